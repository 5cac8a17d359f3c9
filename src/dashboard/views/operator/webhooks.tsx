// The operator's view "webhooks": the list of them, and the page of one.
import { Alert, Anchor, Button, Group, Text, VisuallyHidden } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { ERRORS } from "../../../core/errors.ts";
import { Dialog, useDialog } from "../../parts/dialog.tsx";
import { Icon } from "../../parts/icon.tsx";
import { NowProvider } from "../../parts/moment.tsx";
import { NamedSentence } from "../../parts/name-text.tsx";
import { Notice } from "../../parts/states.tsx";
import { ViewPage } from "../../parts/view-page.tsx";
import { useRouteId } from "../../state/route.ts";
import { useAdmin, usePagedList } from "../../state/use-admin.ts";
import { PagedTable } from "./list-frame.tsx";
import { useServerNames } from "./names.ts";
import { ServerFilter } from "./server-filter.tsx";
import { SuccessMessage } from "./success-message.tsx";
import { attributesOfWebhook, hrefOfWebhook, keyOfWebhook, useWebhookColumns } from "./webhook-columns.tsx";
import { CreateWebhookForm } from "./webhook-form.tsx";
import { WebhookPage } from "./webhook-page.tsx";
import { type WebhookSecret, WebhookSecretDialog } from "./webhook-secret-dialog.tsx";

const POLL_INTERVAL_MS = 10_000;

export function WebhooksView() {
  const id = useRouteId("webhooks");
  return id === undefined || id === "" ? <WebhookList /> : <WebhookPage key={id} webhookId={id} />;
}

function WebhookList() {
  const { t } = useTranslation("operatorWebhooks");
  const admin = useAdmin();
  const { servers, nameOf, isLoading } = useServerNames();
  const [serverId, setServerId] = useState("");
  const [hasArchive, setArchive] = useState(true);
  const list = usePagedList(
    ["webhooks", "list", serverId],
    (query) => admin.listWebhooks({ ...query, ...(serverId !== "" && { server_id: serverId }) }),
    hasArchive ? POLL_INTERVAL_MS : undefined,
  );
  // Asking again changes nothing until Gatehouse is restarted.
  if (hasArchive && list.error?.code === ERRORS.notConfigured.code) setArchive(false);
  const columns = useWebhookColumns(nameOf);
  const [done, setDone] = useState<ReactNode>();
  const creating = useDialog<true>();
  const secret = useDialog<WebhookSecret>();
  const shown = !list.isLoading && `${t("shown", { count: list.items.length })}${list.hasMore ? "+" : ""}`;
  return (
    <ViewPage
      title={t("title")}
      summary={t("summary")}
      actions={
        <Button
          leftSection={<Icon name="plus" size={16} />}
          onClick={() => creating.open(true)}
          disabled={servers.length === 0 || !hasArchive}
        >
          {t("create")}
        </Button>
      }
    >
      <SuccessMessage text={done} onClose={() => setDone(undefined)} />
      {hasArchive ? (
        <>
          {!isLoading && servers.length === 0 && (
            <Alert color="blue" icon={<Icon name="servers" />}>
              {t("needsServer")}
            </Alert>
          )}
          <Group gap="sm" align="flex-end">
            <ServerFilter
              label={t("server")}
              everyLabel={t("everyServer")}
              servers={servers}
              value={serverId}
              onChange={setServerId}
            />
          </Group>
          <VisuallyHidden role="status">{shown}</VisuallyHidden>
          <NowProvider>
            <PagedTable
              list={list}
              label={t("list")}
              name="operator-webhooks"
              empty={serverId === "" ? { title: t("empty"), text: t("emptyText") } : { title: t("noMatch") }}
              columns={columns}
              keyOf={keyOfWebhook}
              attributesOf={attributesOfWebhook}
            >
              <Text size="sm" c="dimmed" aria-hidden>
                {shown}
              </Text>
            </PagedTable>
          </NowProvider>
        </>
      ) : (
        <Notice icon="activity" title={t("noArchive")}>
          {t("noArchiveText")}
        </Notice>
      )}
      <Dialog state={creating} title={t("createTitle")} isLarge>
        {() => (
          <CreateWebhookForm
            servers={servers}
            serverId={serverId === "" ? undefined : serverId}
            onCancel={creating.close}
            onDone={(created) => {
              creating.close();
              setDone(
                <>
                  <NamedSentence names={[created.label]} write={(label) => t("created", { label })} />{" "}
                  <Anchor href={hrefOfWebhook(created)} size="sm" underline="always">
                    {t("open")}
                  </Anchor>
                </>,
              );
              // Discord checks no signatures.
              if (created.format === "standard")
                secret.open({ label: created.label, secret: created.secret });
            }}
          />
        )}
      </Dialog>
      <WebhookSecretDialog state={secret} />
    </ViewPage>
  );
}
