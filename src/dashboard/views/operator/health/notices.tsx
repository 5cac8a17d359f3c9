// What is not well, with what to do about each: in Health, and above the servers of the overview.
import { Alert, Anchor, List, Text } from "@mantine/core";
import { useTranslation } from "react-i18next";
import type { Notice, Readiness } from "../../../../core/wire/health.ts";
import type { ApiError } from "../../../api/request.ts";
import { useDialog } from "../../../parts/dialog.tsx";
import { Icon } from "../../../parts/icon.tsx";
import { hrefOf } from "../../../state/route.ts";
import { useAdmin, useAdminQuery } from "../../../state/session/use-admin.ts";
import { useFormat } from "../../../state/time/use-format.ts";
import { ChangeDialog } from "../form.tsx";
import { SmallButton } from "../layout.tsx";
import { describeNotice } from "./describe-notice.ts";

const POLL_INTERVAL_MS = 5_000;
const COLOURS: Readonly<Record<Readiness["callers"], string>> = { served: "teal", partly: "orange", refused: "red" };

/**
 * Whether callers are served, and what is not well. `isBrief`: nothing when all is well. Screen readers announce only the title,
 * because the list may change with every poll.
 */
export function ReadinessAlert({ isBrief = false }: { readonly isBrief?: boolean }) {
  const { t } = useTranslation(["operatorHealth", "status"]);
  const admin = useAdmin();
  const { value, error } = useAdminQuery(["readiness"], admin.readReadiness, POLL_INTERVAL_MS);
  if (error) return <NotReady error={error} />;
  if (!value || (isBrief && value.notices.length === 0)) return null;
  const { callers, notices } = value;
  const isWell = notices.length === 0;
  return (
    <Alert
      role="region"
      color={callers === "served" && !isWell ? "yellow" : COLOURS[callers]}
      icon={<Icon name={isWell ? "check" : "warning"} />}
      title={<span role="status">{t(`callers.${callers}`)}</span>}
      data-callers={callers}
    >
      {t(isWell ? "callersText.well" : `callersText.${callers}`)}
      <Notices notices={notices} />
    </Alert>
  );
}

function NotReady({ error }: { readonly error: ApiError }) {
  const { t } = useTranslation(["operatorHealth", "status"]);
  const isUnreachable = error.code === 0;
  return (
    <Alert
      role="region"
      color="red"
      icon={<Icon name="warning" />}
      title={<span role="alert">{t(isUnreachable ? "status:title.unreachable" : "notReady")}</span>}
    >
      {Object.entries(error.details ?? {}).map(([part, what]) => (
        <Text size="sm" key={part} lang="en">
          {part}: {what}
        </Text>
      ))}
      <Notices notices={error.notices ?? []} />
    </Alert>
  );
}

function Notices({ notices }: { readonly notices: readonly Notice[] }) {
  if (notices.length === 0) return null;
  return (
    <List size="sm" mt={4} spacing={6} className="untrusted">
      {notices.map((notice) => (
        <NoticeItem key={notice.code} notice={notice} />
      ))}
    </List>
  );
}

function NoticeItem({ notice }: { readonly notice: Notice }) {
  const { t } = useTranslation("operatorHealth");
  const format = useFormat();
  const { what, todo, when, view, isForeign } = describeNotice(notice, t, format);
  return (
    <List.Item data-notice={notice.code} {...(isForeign && { lang: "en" })}>
      {what}{" "}
      {when !== undefined && (
        <Text span size="sm" c="dimmed" className="numbers">
          {when}
        </Text>
      )}
      <Text size="sm">
        {todo}{" "}
        {view !== undefined && (
          <Anchor href={hrefOf(view)} size="sm" underline="always">
            {t(`look.${view}`)}
          </Anchor>
        )}
      </Text>
      {notice.code === "upstream_paused" && <ResumeButton />}
    </List.Item>
  );
}

function ResumeButton() {
  const { t } = useTranslation("operatorHealth");
  const admin = useAdmin();
  const resuming = useDialog<string>();
  return (
    <>
      <SmallButton size="compact-sm" text={t("resume")} onClick={() => resuming.open("")} />
      <ChangeDialog
        state={resuming}
        title={t("resumeTitle")}
        label={t("resume")}
        change={() => admin.resumeUpstream()}
        invalidates={["readiness", "servers"]}
        nameOf={() => ""}
        text={() => t("resumeText")}
      />
    </>
  );
}
