// The operator's view "blocks": the keys that are blocked for spam, for how long, and a button to lift the block.
import { Group, Paper, Stack, Text } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import type { BlockResource } from "../../../core/wire/key.ts";
import { markInvisible, NamedSentence, NameText } from "../../parts/text/game-text.tsx";
import { ViewPage } from "../../parts/view-page.tsx";
import { useAdmin, useAdminChange, usePagedList } from "../../state/session/use-admin.ts";
import { useFormat, useSecond } from "../../state/time/use-format.ts";
import { useServerNames } from "./fields.tsx";
import { FormError } from "./form.tsx";
import { SmallButton, SuccessMessage } from "./layout.tsx";
import { ListFrame } from "./list-frame.tsx";

const POLL_INTERVAL_MS = 5_000;

export function BlocksView() {
  const { t } = useTranslation("operatorBlocks");
  const admin = useAdmin();
  const { nameOf } = useServerNames();
  const list = usePagedList(["blocks"], admin.listBlocks, POLL_INTERVAL_MS);
  const [done, setDone] = useState<ReactNode>();
  return (
    <ViewPage title={t("title")}>
      <SuccessMessage text={done} onClose={() => setDone(undefined)} />
      <ListFrame list={list} label={t("list")} empty={{ title: t("empty"), text: t("emptyText") }}>
        {(block) => (
          <BlockRow
            key={block.key_id}
            block={block}
            serverName={nameOf(block.server_id)}
            onLifted={(name) => setDone(<NamedSentence names={[name]} write={(label) => t("lifted", { label })} />)}
          />
        )}
      </ListFrame>
    </ViewPage>
  );
}

function BlockRow(props: {
  readonly block: BlockResource;
  readonly serverName: string | undefined;
  readonly onLifted: (label: string) => void;
}) {
  const { t } = useTranslation("operatorBlocks");
  const format = useFormat();
  const now = useSecond();
  const admin = useAdmin();
  const { block, serverName } = props;
  const label = block.label ?? t("gone");
  const leftMs = block.blocked_until - now;
  const { run, isRunning, error } = useAdminChange(
    async (keyId: string) => {
      const outcome = await admin.liftBlock(keyId);
      return outcome.ok ? { ...outcome, value: true } : outcome;
    },
    ["blocks"],
    true,
  );
  async function lift() {
    if (await run(block.key_id)) props.onLifted(label);
  }
  return (
    <Paper component="li" withBorder p="sm">
      <Group justify="space-between" gap="xs">
        <Stack gap={2} flex="1 1 16rem" miw={0}>
          <Text fw={650}>
            <NameText text={label} />
          </Text>
          <Text size="sm" c="dimmed" className="untrusted">
            {serverName !== undefined && (
              <>
                <NameText text={serverName} />
                {" · "}
              </>
            )}
            {block.key_id}
          </Text>
          <Text size="sm" className="numbers">
            {leftMs > 0 ? t("left", { age: format.duration(leftMs) }) : t("over")}
            {" · "}
            {t("until", { time: format.time(block.blocked_until) })}
          </Text>
        </Stack>
        <SmallButton
          text={t("lift")}
          name={t("liftName", { label: markInvisible(label) })}
          loading={isRunning}
          onClick={() => void lift()}
        />
      </Group>
      <FormError error={error} />
    </Paper>
  );
}
