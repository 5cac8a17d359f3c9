// The operator's view "commands": the waiting and recent commands of all servers, and a button to cancel a waiting one.
import { Button, Code, Group, NativeSelect, Paper, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { COMMAND_STATUSES, type CommandStatus } from "../../../core/command.ts";
import type { OwnedCommandResource } from "../../../core/wire/command.ts";
import { useDialog } from "../../parts/dialog.tsx";
import { GameText, markInvisible } from "../../parts/game-text.tsx";
import { NamedSentence } from "../../parts/name-text.tsx";
import { ViewPage } from "../../parts/view-page.tsx";
import { useAdmin, usePagedList } from "../../state/use-admin.ts";
import { StatusBadge, StatusDetails } from "../command-status.tsx";
import { ChangeDialog } from "./change.tsx";
import { ListFrame } from "./list-frame.tsx";
import { useKeyLabels, useServerNames } from "./names.ts";
import { ServerFilter } from "./server-filter.tsx";

const POLL_INTERVAL_MS = 5_000;
/** The characters of a command that are shown at once; a button shows the rest. */
const COMMAND_MAX = 500;

export function OperatorCommandsView() {
  const { t } = useTranslation(["operatorCommands", "commands"]);
  const admin = useAdmin();
  const { servers, nameOf } = useServerNames();
  const labelOf = useKeyLabels();
  const [serverId, setServerId] = useState("");
  const [status, setStatus] = useState<CommandStatus | "">("");
  const list = usePagedList(
    ["commands", "list", serverId, status],
    (query) =>
      admin.listCommands({
        ...query,
        ...(serverId !== "" && { server_id: serverId }),
        ...(status !== "" && { status }),
      }),
    POLL_INTERVAL_MS,
  );
  const cancelling = useDialog<OwnedCommandResource>();
  const serverOf = (command: OwnedCommandResource) => nameOf(command.server_id) ?? command.server_id;
  return (
    <ViewPage title={t("title")} summary={t("summary")}>
      <Group gap="sm">
        <ServerFilter
          label={t("server")}
          everyLabel={t("everyServer")}
          servers={servers}
          value={serverId}
          onChange={setServerId}
        />
        <NativeSelect
          label={t("status")}
          value={status}
          onChange={(event) => setStatus(event.currentTarget.value as CommandStatus | "")}
          data={[
            { value: "", label: t("everyStatus") },
            ...COMMAND_STATUSES.map((value) => ({ value, label: t(`commands:status.${value}`) })),
          ]}
          flex="1 1 10rem"
          maw={240}
        />
      </Group>
      <ListFrame list={list} label={t("list")} empty={{ title: t("empty"), text: t("emptyText") }}>
        {(command) => (
          <Paper key={command.command_id} component="li" withBorder p="sm" data-status={command.status}>
            <Group justify="space-between" align="flex-start" gap="xs">
              <Stack gap={4} flex="1 1 16rem" miw={0}>
                <Code className="untrusted command-text">
                  <GameText text={command.command} max={COMMAND_MAX} />
                </Code>
                <Text size="sm">
                  <NamedSentence
                    names={[serverOf(command), labelOf(command.key_id) ?? command.key_id]}
                    write={(server = "", key = "") => t("by", { server, key })}
                  />
                </Text>
                <StatusDetails command={command} />
              </Stack>
              <Group gap="xs">
                <StatusBadge command={command} />
                {command.status === "queued" && (
                  <Button
                    size="xs"
                    variant="light"
                    color="red"
                    onClick={() => cancelling.open(command)}
                    aria-label={t("commands:cancelName", { command: markInvisible(command.command) })}
                  >
                    {t("commands:cancel")}
                  </Button>
                )}
              </Group>
            </Group>
          </Paper>
        )}
      </ListFrame>
      <ChangeDialog
        state={cancelling}
        title={t("cancelTitle")}
        label={t("cancelAction")}
        cancelLabel={t("keepAction")}
        change={(command) => admin.cancelCommand(command.command_id)}
        invalidates={["commands"]}
      >
        {(command) => (
          <>
            <Code block className="untrusted command-text">
              <GameText text={command.command} max={COMMAND_MAX} />
            </Code>
            <Text>
              <NamedSentence names={[serverOf(command)]} write={(server) => t("cancelText", { server })} />
            </Text>
          </>
        )}
      </ChangeDialog>
    </ViewPage>
  );
}
