// The browsers in which a person is signed in, and their passkeys: each can be ended.
import { Group, Stack, Text } from "@mantine/core";
import { useTranslation } from "react-i18next";
import type { PersonResource, PersonSessionResource } from "../../../../core/wire/people.ts";
import { FailedState, LoadingState } from "../../../parts/states.tsx";
import { markInvisible } from "../../../parts/text/game-text.tsx";
import { useAdmin, useAdminChange, useAdminQuery } from "../../../state/session/use-admin.ts";
import { useFormat } from "../../../state/time/use-format.ts";
import { FormError } from "../form.tsx";
import { Hint, Section, SmallButton } from "../layout.tsx";

const POLL_INTERVAL_MS = 15_000;

export function PersonSessions({ person }: { readonly person: PersonResource }) {
  const { t } = useTranslation("operatorPeople");
  const admin = useAdmin();
  const { person_id: id } = person;
  const list = useAdminQuery(["people", "sessions", id], () => admin.listSessions(id), POLL_INTERVAL_MS);
  const shown = useAdminQuery(["people", "one", id], () => admin.showPerson(id), POLL_INTERVAL_MS);
  const end = useAdminChange((sessionId: string) => admin.endSession(id, sessionId), ["people"], true);
  const remove = useAdminChange(() => admin.deletePasskeys(id), ["people"], true);
  const items = list.value?.items;
  const requests = shown.value?.usage.reduce((sum, used) => sum + used.requests, 0);
  const passkeys = shown.value?.passkeys ?? person.passkeys;
  return (
    <Stack gap="lg">
      {requests !== undefined && <Hint>{t("sessions.requests", { count: requests })}</Hint>}
      <Section title={t("sessions.list")} isInDialog>
        {!items && (list.error ? <FailedState error={list.error} onRetry={list.refresh} /> : <LoadingState />)}
        {items?.length === 0 && <Hint>{t("sessions.none")}</Hint>}
        <Stack component="ul" gap="xs" className="plain-list">
          {items?.map((session) => (
            <SessionRow key={session.session_id} session={session} onEnd={() => void end.run(session.session_id)} />
          ))}
        </Stack>
        <FormError error={end.error} />
        {items && items.length > 1 && (
          <Group>
            <SmallButton text={t("sessions.endAll")} color="red" onClick={() => void end.run("")} />
          </Group>
        )}
      </Section>
      <Section title={t("sessions.passkeys", { count: passkeys })} isInDialog>
        <Hint>{t("sessions.passkeysHint")}</Hint>
        <FormError error={remove.error} />
        {passkeys > 0 && (
          <Group>
            <SmallButton
              text={t("sessions.removePasskeys")}
              color="red"
              loading={remove.isRunning}
              onClick={() => void remove.run(undefined)}
            />
          </Group>
        )}
      </Section>
    </Stack>
  );
}

function SessionRow({ session, onEnd }: { readonly session: PersonSessionResource; readonly onEnd: () => void }) {
  const { t } = useTranslation("operatorPeople");
  const format = useFormat();
  const name = session.description === "" ? t("sessions.unknown") : session.description;
  const times = [
    t("sessions.since", { time: format.dateTime(session.created_at) }),
    t("sessions.used", { time: format.dateTime(session.last_used_at) }),
    t("sessions.until", { time: format.dateTime(session.expires_at) }),
  ];
  return (
    <Group component="li" justify="space-between" gap="xs">
      <Stack gap={0} flex="1 1 14rem" miw={0}>
        <Text size="sm" fw={600} className="untrusted">
          {name}
        </Text>
        <Hint className="numbers">{times.join(" · ")}</Hint>
      </Stack>
      <SmallButton
        text={t("sessions.end")}
        name={t("sessions.endName", { name: markInvisible(name) })}
        color="red"
        onClick={onEnd}
      />
    </Group>
  );
}
