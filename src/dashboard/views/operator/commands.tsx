// The operator's view "commands": the waiting and recent commands of all servers, and a button to cancel a waiting one.
import { Code } from "@mantine/core";
import { useCallback, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { COMMAND_STATUSES, type CommandStatus } from "../../../core/commands/command.ts";
import type { OwnedCommandResource } from "../../../core/wire/command.ts";
import { useDialog } from "../../parts/dialog.tsx";
import type { ShownColumn } from "../../parts/table/table-columns.ts";
import { Toolbar } from "../../parts/table/table-toolbar.tsx";
import { GameText, markInvisible } from "../../parts/text/game-text.tsx";
import { ViewPage } from "../../parts/view-page.tsx";
import { useAdmin, usePagedList } from "../../state/session/use-admin.ts";
import {
  attributesOfCommand,
  keyOfCommand,
  makeCommandColumn,
  makeStatusColumns,
} from "../commands/command-status.tsx";
import { useServerNames, useTargetNames } from "./fields.tsx";
import { ChangeDialog } from "./form.tsx";
import { SmallButton } from "./layout.tsx";
import { ListFilter, makeButtons, makeColumn, PagedTable, ServerFilter } from "./list-frame.tsx";

const POLL_INTERVAL_MS = 5_000;
/** The characters of a command that are shown at once; a button shows the rest. */
const COMMAND_MAX = 500;

export function OperatorCommandsView() {
  const { t } = useTranslation(["operatorCommands", "operator", "commands"]);
  const admin = useAdmin();
  const { servers, nameOf } = useServerNames("keys");
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
    <ViewPage title={t("title")}>
      <PagedTable
        toolbar={
          <Toolbar>
            <ServerFilter servers={servers} value={serverId} onChange={setServerId} />
            <ListFilter
              label={t("operator:fields.status")}
              everyLabel={t("everyStatus")}
              options={COMMAND_STATUSES.map((value) => ({ value, label: t(`commands:status.${value}`) }))}
              value={status}
              onChange={setStatus}
            />
          </Toolbar>
        }
        list={list}
        label={t("list")}
        name="operator-commands"
        empty={{ title: t("empty"), text: t(serverId + status === "" ? "emptyText" : "noMatch") }}
        columns={columns}
        keyOf={keyOfCommand}
        attributesOf={attributesOfCommand}
      />
      <ChangeDialog
        state={cancelling}
        title={t("cancelTitle")}
        label={t("cancelAction")}
        cancelLabel={t("keepAction")}
        change={(command) => admin.cancelCommand(command.command_id)}
        invalidates={["commands"]}
        nameOf={serverOf}
        text={(server) => t("cancelText", { server })}
      >
        {(command) => (
          <Code block className="untrusted command-text">
            <GameText text={command.command} max={COMMAND_MAX} />
          </Code>
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
  const { t } = useTranslation(["operatorCommands", "operator", "commands", "table"]);
  const { t: commandTexts } = useTranslation("commands");
  const labelOf = useTargetNames();
  return useMemo(() => {
    const [status, ...others] = makeStatusColumns(commandTexts).map((column) => ({
      ...column,
      ...NARROWER[column.id],
    }));
    return [
      { ...makeCommandColumn(commandTexts), width: "24%" },
      ...(status ? [status] : []),
      makeColumn("server", t("operator:fields.server_id"), "name", serverOf, { phone: "line" }),
      makeColumn("key", t("key"), "name", ({ key_id: id }) => labelOf(id) ?? id, { phone: "line" }),
      ...others,
      makeButtons(t("table:buttons"), "7rem", (command) =>
        command.status === "queued" ? (
          <SmallButton
            size="compact-sm"
            color="red"
            text={t("commands:cancel")}
            name={t("commands:cancelName", { command: markInvisible(command.command) })}
            onClick={() => onCancel(command)}
          />
        ) : undefined,
      ),
    ];
  }, [t, commandTexts, serverOf, labelOf, onCancel]);
}
