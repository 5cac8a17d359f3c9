// One's own page: who one is here, one's passkeys and sessions, the language, and signing out.
import { Alert, Anchor, Badge, Button, Group, Paper, Stack, Text } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import type { PasskeyResource } from "../../../core/wire/people.ts";
import type { ApiError } from "../../api/request.ts";
import { own as en } from "../../locales/en/own.ts";
import { own as ru } from "../../locales/ru/own.ts";
import { addTexts } from "../../locales/translation.ts";
import { Dialog, DialogButtons, useDialog } from "../../parts/dialog.tsx";
import { Icon } from "../../parts/icon.tsx";
import { FailedState, LoadingState } from "../../parts/states.tsx";
import { markInvisible, NamedSentence, NameText } from "../../parts/text/game-text.tsx";
import { Heading } from "../../parts/text/plain-text.tsx";
import { ViewPage } from "../../parts/view-page.tsx";
import { hrefOf, serverBase } from "../../state/route.ts";
import { useMe, useRoleTitle } from "../../state/session/person.ts";
import { type Person, type SignInProblem, useAdminSession, valuesOfProblem } from "../../state/session/session.ts";
import { useAdminChange, useAdminQuery } from "../../state/session/use-admin.ts";
import { canUsePasskeys, usePasskey } from "../../state/session/use-passkey.ts";
import { useFormat } from "../../state/time/use-format.ts";

addTexts({ en: { own: en }, ru: { own: ru } });

const POLL_INTERVAL_MS = 15_000;

export function MeView() {
  const { t } = useTranslation(["own", "me", "shell"]);
  const { person } = useAdminSession();
  if (!person) return null;
  return (
    <ViewPage title={t("me:title")}>
      <Roles person={person} />
      <Passkeys person={person} />
      <Sessions person={person} />
    </ViewPage>
  );
}

function Part({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <Paper component="section" aria-label={title} withBorder p="md" maw={760}>
      <Stack gap="sm">
        <Heading order={2}>{title}</Heading>
        {children}
      </Stack>
    </Paper>
  );
}

function Roles({ person }: { readonly person: Person }) {
  const { t } = useTranslation("own");
  const titleOf = useRoleTitle();
  const { person: self, servers, is_operator: isOperator } = useMe(person);
  return (
    <Part title={markInvisible(self.name)}>
      {isOperator ? (
        <Text>{t("isOperator")}</Text>
      ) : servers.length === 0 ? (
        <Text>{t("noRoles")}</Text>
      ) : (
        <Stack gap={4} component="ul" className="plain-list" aria-label={t("roles")}>
          {servers.map(({ server_id: id, name, role, title }) => (
            <Group key={id} component="li" gap="xs">
              <Anchor href={hrefOf(`${serverBase(id)}live`)} className="touch-link">
                <NameText text={name} />
              </Anchor>
              <Badge variant="light">
                <NameText text={titleOf({ name: role, title })} />
              </Badge>
            </Group>
          ))}
        </Stack>
      )}
    </Part>
  );
}

function Passkeys({ person }: { readonly person: Person }) {
  const { t } = useTranslation(["own", "signIn"]);
  const format = useFormat();
  const list = useAdminQuery(["own", "passkeys"], person.own.listPasskeys);
  const remove = useAdminChange(person.own.deletePasskey, ["own"], true);
  const items = list.value?.items;
  const removing = useDialog<PasskeyResource>();
  const [problem, setProblem] = useState<SignInProblem>();
  const passkey = usePasskey("add", setProblem, list.refresh);
  return (
    <Part title={t("passkeys")}>
      {!items && (list.error ? <FailedState error={list.error} onRetry={list.refresh} /> : <LoadingState />)}
      {items?.length === 0 && (
        <Text size="sm" c="dimmed">
          {t("noPasskeys")}
        </Text>
      )}
      <Entries>
        {items?.map((item) => (
          <Entry
            key={item.passkey_id}
            name={item.label || t("unknown")}
            times={[
              t("since", { time: format.dateTime(item.created_at) }),
              item.last_used_at === null ? t("neverUsed") : t("usedAt", { time: format.dateTime(item.last_used_at) }),
            ]}
            action={t("remove")}
            actionName={t("removeName", { name: markInvisible(item.label) })}
            onAction={() => removing.open(item)}
          />
        ))}
      </Entries>
      <ChangeError error={remove.error} />
      {problem && (
        <Alert role="alert" color="red" icon={<Icon name="warning" />}>
          {t(`signIn:${problem.text}`, valuesOfProblem(problem))}
        </Alert>
      )}
      {canUsePasskeys() ? (
        <Group>
          <Button
            variant="light"
            leftSection={<Icon name="passkey" size={16} />}
            loading={passkey.isRunning}
            onClick={() => void passkey.run()}
          >
            {t("addPasskey")}
          </Button>
        </Group>
      ) : (
        <Text size="sm">{t("signIn:passkeyNotHere")}</Text>
      )}
      <Dialog state={removing} title={t("removePasskey")}>
        {(item) => (
          <Stack>
            <Text>
              <NamedSentence names={[item.label]} write={(name) => t("removePasskeyText", { name })} />
            </Text>
            <DialogButtons
              label={t("remove")}
              isDangerous
              onCancel={removing.close}
              onConfirm={async () => {
                removing.close();
                await remove.run(item.passkey_id);
              }}
            />
          </Stack>
        )}
      </Dialog>
    </Part>
  );
}

function Sessions({ person }: { readonly person: Person }) {
  const { t } = useTranslation("own");
  const format = useFormat();
  const list = useAdminQuery(["own", "sessions"], person.own.listSessions, POLL_INTERVAL_MS);
  const end = useAdminChange(person.own.endSession, ["own"], true);
  const items = list.value?.items;
  return (
    <Part title={t("sessions")}>
      {!items && (list.error ? <FailedState error={list.error} onRetry={list.refresh} /> : <LoadingState />)}
      <ChangeError error={end.error} />
      <Entries>
        {items?.map((item) => {
          const name = item.description || t("unknown");
          return (
            <Entry
              key={item.session_id}
              name={name}
              badge={item.is_current ? t("thisOne") : undefined}
              times={[
                t("usedAt", { time: format.dateTime(item.last_used_at) }),
                t("until", { time: format.dateTime(item.expires_at) }),
              ]}
              {...(!item.is_current && {
                action: t("end"),
                actionName: t("endName", { name: markInvisible(name) }),
                onAction: () => void end.run(item.session_id),
              })}
            />
          );
        })}
      </Entries>
    </Part>
  );
}

function ChangeError({ error }: { readonly error: ApiError | undefined }) {
  const { t } = useTranslation("status");
  if (!error) return null;
  return (
    <Alert role="alert" color="red" title={t("title.failed")} icon={<Icon name="warning" />}>
      {error.code !== 0 && t("text.failed", { message: error.message, code: error.code })}
    </Alert>
  );
}

function Entries({ children }: { readonly children: ReactNode }) {
  return (
    <Stack gap="xs" component="ul" className="plain-list">
      {children}
    </Stack>
  );
}

function Entry(props: {
  readonly name: string;
  readonly badge?: string | undefined;
  readonly times: readonly string[];
  readonly action?: string;
  readonly actionName?: string;
  readonly onAction?: () => void;
}) {
  return (
    <Group component="li" justify="space-between" gap="xs">
      <Stack gap={0} flex="1 1 14rem" miw={0}>
        <Group gap="xs">
          <Text size="sm" fw={600} className="untrusted">
            {props.name}
          </Text>
          {props.badge !== undefined && <Badge>{props.badge}</Badge>}
        </Group>
        <Text size="sm" c="dimmed" className="numbers">
          {props.times.join(" · ")}
        </Text>
      </Stack>
      {props.onAction && (
        <Button size="xs" variant="outline" color="red" aria-label={props.actionName} onClick={props.onAction}>
          {props.action}
        </Button>
      )}
    </Group>
  );
}
