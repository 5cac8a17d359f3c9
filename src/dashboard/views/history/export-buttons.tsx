// Two buttons that download what a view shows, as CSV and as JSON.

import { Button, Group, Text } from "@mantine/core";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import type { ApiError } from "../../api/request.ts";
import { saveFile } from "../../parts/save-file.ts";
import { Note } from "../../parts/text/plain-text.tsx";
import {
  EXPORT_ROWS_MAX,
  type ExportFormat,
  type ExportSpec,
  exportHistory,
  nameExport,
} from "../../state/history/export-history.ts";
import { useServerState } from "../../state/server/use-server-state.tsx";
import { useServerSession } from "../../state/session/session.ts";
import { useFormat } from "../../state/time/use-format.ts";

const FORMATS: readonly ExportFormat[] = ["csv", "json"];
const TYPES: Readonly<Record<ExportFormat, string>> = { csv: "text/csv;charset=utf-8", json: "application/json" };

export function ExportButtons({ spec }: { readonly spec: ExportSpec | undefined }) {
  const { t } = useTranslation("history");
  const format = useFormat();
  const session = useServerSession();
  const { api, pace, serverId } = session;
  const server = useServerState().state?.Name ?? serverId;
  const [running, setRunning] = useState<ExportFormat>();
  const [message, setMessage] = useState("");

  async function run(kind: ExportFormat): Promise<void> {
    if (!spec || running) return;
    setRunning(kind);
    setMessage("");
    try {
      const exported = await exportHistory(api, pace, spec, kind, waitFor, Date.now);
      if ("error" in exported) return setMessage(describeFailure(exported.error));
      const name = nameExport(spec, server, kind);
      saveFile(name, new Blob([exported.text], { type: TYPES[kind] }));
      const isCut = exported.isCut ? ` ${t("export.cut", { n: format.number(EXPORT_ROWS_MAX) })}` : "";
      setMessage(t("export.done", { name }) + isCut);
    } finally {
      setRunning(undefined);
    }
  }

  function describeFailure({ code, message: reason }: ApiError): string {
    return code === 0 ? t("export.unreachable") : t("export.failed", { message: reason, code });
  }

  // Keys may keep what they read; a person needs the right.
  if (session.kind === "caller" && session.person && !session.may.has("exports")) return null;
  return (
    <Group gap="xs" role="group" aria-label={t("export.label")}>
      <Note aria-hidden>{t("export.label")}</Note>
      {FORMATS.map((kind) => (
        <Button
          key={kind}
          size="xs"
          variant="default"
          disabled={!spec}
          loading={running === kind}
          aria-label={t(`export.${kind}Hint`)}
          title={t(`export.${kind}Hint`)}
          onClick={() => void run(kind)}
        >
          {t(`export.${kind}`)}
        </Button>
      ))}
      <Text size="sm" role="status" className="untrusted">
        {message}
      </Text>
    </Group>
  );
}

function waitFor(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
