// The operator's view "commands": the waiting and recent commands of all servers, and a button to cancel a waiting one.
import { Button, Code, Group, NativeSelect, Text } from "@mantine/core";
import { useCallback, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { COMMAND_STATUSES, type CommandStatus } from "../../../core/command.ts";
import type { OwnedCommandResource } from "../../../core/wire/command.ts";
import { useDialog } from "../../parts/dialog.tsx";
import { GameText, markInvisible } from "../../parts/game-text.tsx";
import { NowProvider } from "../../parts/moment.tsx";
import { NamedSentence, NameText } from "../../parts/name-text.tsx";
import type { ShownColumn } from "../../parts/table-columns.ts";
import { ViewPage } from "../../parts/view-page.tsx";
import { useAdmin, usePagedList } from "../../state/use-admin.ts";
import {
  attributesOfCommand,
  keyOfCommand,
  makeCommandColumn,
  makeStatusColumns,
} from "../command-columns.tsx";
import { ChangeDialog } from "./change.tsx";
import { PagedTable } from "./list-frame.tsx";
import { useKeyLabels, useServerNames } from "./names.ts";
import { ServerFilter } from "./server-filter.tsx";

const POLL_INTERVAL_MS = 5_000;
/** The characters of a command that are shown at once; a button shows the rest. */
const COMMAND_MAX = 500;

export function OperatorCommandsView() {
  const { t } = useTranslation(["operatorCommands", "commands"]);
  const admin = useAdmin();
  const { servers, nameOf } = useServerNames();
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
  const serverOf = useCallback(
    (command: OwnedCommandResource) => nameOf(command.server_id) ?? command.server_id,
    [nameOf],
  );
  const columns = useColumns(serverOf, cancelling.open);
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
      <NowProvider>
        <PagedTable
          list={list}
          label={t("list")}
          name="operator-commands"
          empty={{ title: t("empty"), text: t("emptyText") }}
          columns={columns}
          keyOf={keyOfCommand}
          attributesOf={attributesOfCommand}
        />
      </NowProvider>
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

/** Where server and key need their place, too. */
const NARROWER: Readonly<Record<string, Partial<ShownColumn<OwnedCommandResource>>>> = {
  status: { width: "12rem" },
  meaning: { phone: "tap" },
};

function useColumns(
  serverOf: (command: OwnedCommandResource) => string,
  onCancel: (command: OwnedCommandResource) => void,
): readonly ShownColumn<OwnedCommandResource>[] {
  const { t } = useTranslation(["operatorCommands", "commands", "table"]);
  const { t: commandTexts } = useTranslation("commands");
  const labelOf = useKeyLabels();
  return useMemo(() => {
    const [status, ...others] = makeStatusColumns(commandTexts).map((column) => ({
      ...column,
      ...NARROWER[column.id],
    }));
    return [
      { ...makeCommandColumn(commandTexts), width: "24%" },
      ...(status ? [status] : []),
      {
        id: "server",
        title: t("server"),
        readValue: serverOf,
        cell: (command) => <NameText text={serverOf(command)} />,
        phone: "line",
      },
      {
        id: "key",
        title: t("key"),
        readValue: ({ key_id: id }) => labelOf(id) ?? id,
        cell: ({ key_id: id }) => <NameText text={labelOf(id) ?? id} />,
        phone: "line",
      },
      ...others,
      {
        id: "buttons",
        title: t("table:buttons"),
        readValue: () => undefined,
        cell: (command) =>
          command.status === "queued" ? (
            <Button
              size="compact-sm"
              variant="light"
              color="red"
              onClick={() => onCancel(command)}
              aria-label={t("commands:cancelName", { command: markInvisible(command.command) })}
            >
              {t("commands:cancel")}
            </Button>
          ) : undefined,
        width: "7rem",
        isButtons: true,
      },
    ];
  }, [t, commandTexts, serverOf, labelOf, onCancel]);
}
