// Two buttons that download what a view shows, as CSV and as JSON.
import { Button, Group, Text } from "@mantine/core";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import type { ApiError } from "../../api/request.ts";
import {
  EXPORT_ROWS_MAX,
  type ExportFormat,
  type ExportSpec,
  exportHistory,
  nameExport,
} from "../../state/export-history.ts";
import { useServerSession } from "../../state/session.ts";
import { useFormat } from "../../state/use-format.ts";
import { useServerState } from "../../state/use-server-state.tsx";
import "./texts.ts";

const FORMATS: readonly ExportFormat[] = ["csv", "json"];
const TYPES: Readonly<Record<ExportFormat, string>> = {
  csv: "text/csv;charset=utf-8",
  json: "application/json",
};
/** The browser has read the file by then. */
const RELEASE_MS = 60_000;

export function ExportButtons({ spec }: { readonly spec: ExportSpec | undefined }) {
  const { t } = useTranslation("history");
  const format = useFormat();
  const { api, pace, serverId } = useServerSession();
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
      saveFile(name, TYPES[kind], exported.text);
      const isCut = exported.isCut ? ` ${t("export.cut", { n: format.number(EXPORT_ROWS_MAX) })}` : "";
      setMessage(t("export.done", { name }) + isCut);
    } finally {
      setRunning(undefined);
    }
  }

  function describeFailure({ code, message: reason }: ApiError): string {
    return code === 0 ? t("export.unreachable") : t("export.failed", { message: reason, code });
  }

  return (
    <Group gap="xs" role="group" aria-label={t("export.label")}>
      <Text size="sm" c="dimmed" aria-hidden>
        {t("export.label")}
      </Text>
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

function saveFile(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), RELEASE_MS);
}
