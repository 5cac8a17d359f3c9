// The frame of an operator who looks into a server: the views of an API key, read with the master key.
import { Anchor, Group } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { type RefObject, useMemo } from "react";
import { useTranslation } from "react-i18next";
import { ERRORS } from "../core/errors.ts";
import { FrameBody } from "./frame-body.tsx";
import { Icon } from "./parts/icon.tsx";
import { Notice } from "./parts/states.tsx";
import { hrefOf, RouteBaseContext, serverBase } from "./state/route.ts";
import { openViewerSession, SessionContext, useOperatorSession, useSession } from "./state/session.ts";
import { useAdmin, useAdminQuery } from "./state/use-admin.ts";
import { LiveStreamProvider } from "./state/use-live-stream.tsx";
import { ServerStateProvider } from "./state/use-server-state.tsx";
import { ServerFacts } from "./views/operator/server-facts.tsx";

const POLL_INTERVAL_MS = 5_000;

export function ServerFrame(props: { readonly serverId: string; readonly isFirst: RefObject<boolean> }) {
  const { t } = useTranslation("operatorServers");
  const { serverId } = props;
  const operator = useOperatorSession();
  const { signOut } = useSession();
  const admin = useAdmin();
  const server = useAdminQuery(
    ["servers", "one", serverId],
    () => admin.showServer(serverId),
    POLL_INTERVAL_MS,
  );
  const context = useMemo(
    () => ({ session: openViewerSession(operator, serverId), signOut }),
    [operator, serverId, signOut],
  );
  // Each server has its own cache, so that nothing of one server is shown for another.
  const client = useMemo(() => new QueryClient(), []);
  const isGone = server.error?.code === ERRORS.notFound.code;
  return (
    <SessionContext value={context}>
      <QueryClientProvider client={client}>
        <RouteBaseContext value={serverBase(serverId)}>
          <LiveStreamProvider>
            <ServerStateProvider>
              <FrameBody
                name={server.value?.name ?? t("title")}
                isFirst={props.isFirst}
                banner={
                  <Group gap="sm">
                    <Anchor href={hrefOf("servers")} size="sm">
                      <Group gap={4} wrap="nowrap" component="span">
                        <Icon name="back" size={16} />
                        {t("back")}
                      </Group>
                    </Anchor>
                    {server.value && !isGone && <ServerFacts server={server.value} isBrief />}
                  </Group>
                }
              >
                {isGone && <Notice icon="servers" title={t("gone")} />}
              </FrameBody>
            </ServerStateProvider>
          </LiveStreamProvider>
        </RouteBaseContext>
      </QueryClientProvider>
    </SessionContext>
  );
}
