// The frame of an operator, or of an operator who looks into one server. It is loaded with the texts of the operator's views.
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { type RefObject, useMemo, useRef } from "react";
import { useTranslation } from "react-i18next";
import { ERRORS } from "../../core/errors.ts";
import { operatorEn } from "../locales/operator-en.ts";
import { operatorRu } from "../locales/operator-ru.ts";
import { addTexts } from "../locales/translation.ts";
import { Notice } from "../parts/states.tsx";
import { LiveStreamProvider } from "../state/ledger/use-live-stream.tsx";
import { findServerId, hrefOf, RouteBaseContext, serverBase, useRoute } from "../state/route.ts";
import { ServerStateProvider } from "../state/server/use-server-state.tsx";
import { openViewerSession, SessionContext, useAdminSession, useSession } from "../state/session/session.ts";
import { useAdmin, useAdminQuery } from "../state/session/use-admin.ts";
import { ServerFacts } from "../views/operator/servers/server-facts.tsx";
import { FrameBody } from "./frame.tsx";

addTexts({ en: operatorEn, ru: operatorRu });

export function OperatorFrame() {
  const serverId = findServerId(useRoute());
  const isFirst = useRef(true);
  if (serverId === undefined) return <FrameBody name={undefined} isFirst={isFirst} />;
  return <ServerFrame key={serverId} serverId={serverId} isFirst={isFirst} />;
}

const POLL_INTERVAL_MS = 5_000;

export function ServerFrame(props: { readonly serverId: string; readonly isFirst: RefObject<boolean> }) {
  const { t } = useTranslation("operatorServers");
  const { serverId } = props;
  const operator = useAdminSession();
  const { signOut } = useSession();
  const admin = useAdmin();
  const server = useAdminQuery(["servers", "one", serverId], () => admin.showServer(serverId), POLL_INTERVAL_MS);
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
                back={{ href: hrefOf("servers"), label: t("back") }}
                {...(server.value && !isGone && { banner: <ServerFacts server={server.value} /> })}
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
