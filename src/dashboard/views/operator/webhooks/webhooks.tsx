// The operator's view "webhooks": the list of them with its columns, and the page of one.
import { Alert, Anchor, Button } from "@mantine/core";
import { type ReactNode, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { ERRORS } from "../../../../core/errors.ts";
import type { WebhookResource } from "../../../../core/wire/webhook.ts";
import { toLanguage } from "../../../i18n.ts";
import { Dialog, useDialog } from "../../../parts/dialog.tsx";
import { Icon } from "../../../parts/icon.tsx";
import { Notice } from "../../../parts/states.tsx";
import type { ShownColumn } from "../../../parts/table/table-columns.ts";
import { Toolbar } from "../../../parts/table/table-toolbar.tsx";
import { NamedSentence, NameText } from "../../../parts/text/game-text.tsx";
import { ViewPage } from "../../../parts/view-page.tsx";
import { hrefOf, useRouteId } from "../../../state/route.ts";
import { useAdmin, usePagedList } from "../../../state/session/use-admin.ts";
import { useServerNames } from "../fields.tsx";
import { SuccessMessage } from "../layout.tsx";
import { makeColumn, PagedTable, ServerFilter } from "../list-frame.tsx";
import { type WebhookSecret, WebhookSecretDialog } from "../secret-dialog.tsx";
import { startValues, toBody, WebhookForm } from "./webhook-form.tsx";
import { WebhookPage } from "./webhook-page.tsx";
import { judgeWebhook } from "./webhook-types.ts";
import { useProblemWords, useWaitingText, WebhookBadge } from "./webhook-words.tsx";

const POLL_INTERVAL_MS = 10_000;

export function WebhooksView() {
  const id = useRouteId("webhooks");
  return id === undefined || id === "" ? <WebhookList /> : <WebhookPage key={id} webhookId={id} />;
}

function WebhookList() {
  const { t, i18n } = useTranslation(["operatorWebhooks", "operator"]);
  const admin = useAdmin();
  const { servers, nameOf, isLoading } = useServerNames("webhooks");
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
  return (
    <ViewPage
      title={t("title")}
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
          <PagedTable
            toolbar={
              <Toolbar>
                <ServerFilter servers={servers} value={serverId} onChange={setServerId} />
              </Toolbar>
            }
            list={list}
            label={t("title")}
            name="operator-webhooks"
            empty={serverId === "" ? { title: t("empty"), text: t("emptyText") } : { title: t("noMatch") }}
            columns={columns}
            keyOf={keyOfWebhook}
            attributesOf={attributesOfWebhook}
            writeCount={(count) => t("shown", { count })}
          />
        </>
      ) : (
        <Notice icon="activity" title={t("noArchive")}>
          {t("noArchiveText")}
        </Notice>
      )}
      <Dialog state={creating} title={t("create")} isLarge>
        {() => (
          <WebhookForm
            start={startValues(serverId || (servers[0]?.server_id ?? ""), toLanguage(i18n.language) ?? "en")}
            servers={servers}
            label={t("operator:create")}
            toBody={toBody}
            change={admin.createWebhook}
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
              if (created.format === "standard") secret.open({ label: created.label, secret: created.secret });
            }}
          />
        )}
      </Dialog>
      <WebhookSecretDialog state={secret} />
    </ViewPage>
  );
}

/** The columns of the list of webhooks. */
function hrefOfWebhook({ webhook_id: id }: Pick<WebhookResource, "webhook_id">): string {
  return hrefOf(`webhooks/${id}`);
}

function useWebhookColumns(
  serverOf: (serverId: string) => string | undefined,
): readonly ShownColumn<WebhookResource>[] {
  const { t } = useTranslation(["operatorWebhooks", "operator"]);
  const { describeReason } = useProblemWords();
  const writeWaiting = useWaitingText();
  return useMemo(
    () => [
      {
        id: "label",
        title: t("operator:fields.label"),
        readValue: ({ label }) => label,
        cell: (webhook) => (
          <Anchor href={hrefOfWebhook(webhook)} size="sm" fw={600}>
            <NameText text={webhook.label} />
          </Anchor>
        ),
      },
      {
        id: "state",
        title: t("operator:fields.status"),
        readValue: (webhook) => t(`state.${judgeWebhook(webhook)}`),
        cell: (webhook) => <WebhookBadge webhook={webhook} />,
        width: "11.5rem",
        phone: "side",
      },
      makeColumn(
        "problem",
        t("column.problem"),
        "cut",
        (webhook) => describeReason(webhook) ?? writeWaiting(webhook.waiting),
        { phone: "tap" },
      ),
      makeColumn("server", t("operator:fields.server_id"), "name", ({ server_id: id }) => serverOf(id) ?? id, {
        width: "12%",
        phone: "line",
      }),
      makeColumn("format", t("operator:fields.format"), "text", ({ format }) => t(`format.${format}`), {
        width: "10rem",
        phone: "tap",
      }),
      {
        id: "address",
        title: t("operator:fields.url"),
        readValue: ({ url }) => url,
        cell: ({ url }) => <span className="cut-text untrusted">{url.replace("https://", "")}</span>,
        width: "13%",
        phone: "tap",
        // It is the same for every channel of Discord.
        isHiddenAtFirst: true,
      },
      makeColumn("success", t("column.success"), "ago", ({ last_success_at: at }) => at ?? undefined, {
        width: "11.5rem",
        phone: "tap",
        nothing: t("never"),
      }),
      makeColumn("created", t("operator:created"), "date", ({ created_at: at }) => at, {
        width: "12rem",
        phone: "tap",
        isHiddenAtFirst: true,
      }),
    ],
    [t, serverOf, describeReason, writeWaiting],
  );
}

function keyOfWebhook({ webhook_id: id }: WebhookResource): string {
  return id;
}

function attributesOfWebhook(webhook: WebhookResource) {
  return { "data-state": judgeWebhook(webhook) };
}
