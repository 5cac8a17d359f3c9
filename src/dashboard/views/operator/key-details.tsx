// Details of one key: its usage, its refusals and its rights.
import { Code, Group, SimpleGrid, Stack, Table, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { SECTIONS } from "../../../core/sections.ts";
import type { KeyResource, KeyWithUsage, UsageResource } from "../../../core/wire/key.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { NameText } from "../../parts/name-text.tsx";
import { FailedState, LoadingState } from "../../parts/states.tsx";
import { TableFrame } from "../../parts/table-frame.tsx";
import { useAdmin, useAdminQuery } from "../../state/use-admin.ts";
import { useFormat } from "../../state/use-format.ts";
import { Figure } from "./figure.tsx";
import { KeyDevices } from "./key-devices.tsx";
import { useRefusalNames } from "./refusal-names.ts";
import { UsageChart } from "./usage-chart.tsx";

const POLL_INTERVAL_MS = 15_000;
/** The characters of the command names that are shown at once; a button shows the rest. */
const NAMES_MAX = 1_000;

export function KeyDetails({ keyId, serverName }: { readonly keyId: string; readonly serverName: string }) {
  const admin = useAdmin();
  const { value, isLoading, error, refresh, readAt } = useAdminQuery(
    ["keys", "one", keyId],
    () => admin.showKey(keyId),
    POLL_INTERVAL_MS,
  );
  if (value) {
    return (
      <Stack gap="lg">
        <UsageSection apiKey={value} usage={value.usage} readAt={readAt} />
        <RightsSection apiKey={value} serverName={serverName} />
        {value.state !== "revoked" && <KeyDevices keyId={keyId} />}
      </Stack>
    );
  }
  return isLoading ? <LoadingState /> : error ? <FailedState error={error} onRetry={refresh} /> : null;
}

function UsageSection(props: {
  readonly apiKey: KeyResource;
  readonly usage: UsageResource;
  readonly readAt: number;
}) {
  const { t } = useTranslation("operatorKeys");
  const format = useFormat();
  const nameRefusal = useRefusalNames();
  const { apiKey, usage } = props;
  const refusals = Object.entries(usage.refusals).toSorted(([, a], [, b]) => b - a);
  const refused = refusals.reduce((total, [, count]) => total + count, 0);
  return (
    <Stack gap="sm" component="section" aria-label={t("usage.title")}>
      <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="xs">
        <Figure label={t("usage.total")}>{format.number(usage.requests)}</Figure>
        <Figure label={t("usage.refused")}>{format.number(refused)}</Figure>
        <Figure label={t("usage.last")}>
          <Text size="sm">
            {apiKey.last_used_at === null ? t("neverUsed") : format.dateTime(apiKey.last_used_at)}
          </Text>
        </Figure>
      </SimpleGrid>
      <UsageChart usage={usage} now={props.readAt} />
      <Title order={3} size="h5">
        {t("usage.refusals")}
      </Title>
      {refusals.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t("usage.noRefusals")}
        </Text>
      ) : (
        <TableFrame label={t("usage.refusals")}>
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{t("usage.code")}</Table.Th>
                <Table.Th ta="right">{t("usage.count")}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody className="numbers">
              {refusals.map(([code, count]) => (
                <Table.Tr key={code}>
                  <Table.Td>{nameRefusal(Number(code))}</Table.Td>
                  <Table.Td ta="right">{format.number(count)}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </TableFrame>
      )}
    </Stack>
  );
}

function RightsSection({
  apiKey,
  serverName,
}: {
  readonly apiKey: KeyWithUsage;
  readonly serverName: string;
}) {
  const { t } = useTranslation(["operatorKeys", "status"]);
  const format = useFormat();
  const none = t("right.none");
  const sections = apiKey.sections.map((name) => t(`status:sections.${name}`)).join(", ");
  const isEveryCommand = apiKey.commands.includes("*");
  return (
    <Stack gap="xs" component="section" aria-label={t("right.title")}>
      <Title order={3} size="h5">
        {t("right.title")}
      </Title>
      <dl className="facts">
        <Fact label={t("right.id")}>
          <Group gap={4}>
            <Code>{apiKey.key_id}</Code>
            <CopyButton value={apiKey.key_id} label={t("right.id")} />
          </Group>
        </Fact>
        <Fact label={t("server")}>
          <NameText text={serverName} />
        </Fact>
        <Fact label={t("form.versions")}>{apiKey.versions.join(", ") || none}</Fact>
        <Fact label={t("form.sections")}>
          {apiKey.sections.length === SECTIONS.length ? t("right.all") : sections || none}
        </Fact>
        <Fact label={t("form.commands")}>
          {isEveryCommand ? (
            t("right.all")
          ) : (
            <NameText text={apiKey.commands.join(", ") || none} max={NAMES_MAX} />
          )}
        </Fact>
        <Fact label={t("form.ipAllow")}>{apiKey.ip_allow.join(", ") || t("right.anywhere")}</Fact>
        <Fact label={t("form.expires")}>
          {apiKey.expires_at === null ? t("right.never") : format.dateTime(apiKey.expires_at)}
        </Fact>
        <Fact label={t("right.oldTokens")}>
          {apiKey.grace_tokens.length === 0
            ? none
            : apiKey.grace_tokens.map(({ valid_until: end }, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: two tokens can end at the same time
                <div key={index}>{t("right.oldUntil", { time: format.dateTime(end) })}</div>
              ))}
        </Fact>
      </dl>
    </Stack>
  );
}

function Fact({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <>
      <dt>{label}</dt>
      <dd className="untrusted">{children}</dd>
    </>
  );
}
