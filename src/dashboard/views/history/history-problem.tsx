// What a view shows instead of the past: it may not be read, is not recorded, or cannot be reached.
import { useTranslation } from "react-i18next";
import { FailedState, ForbiddenNotice, Notice } from "../../parts/states.tsx";
import type { HistoryProblem } from "../../state/use-history.ts";
import "./texts.ts";

export function HistoryProblemNotice(props: {
  readonly problem: HistoryProblem;
  readonly onRetry: () => void;
}) {
  const { t } = useTranslation("history");
  const { problem, onRetry } = props;
  if (problem.kind === "forbidden") return <ForbiddenNotice sections={problem.sections} />;
  if (problem.kind === "failed") return <FailedState error={problem.error} onRetry={onRetry} />;
  return (
    <Notice icon={problem.kind === "off" ? "empty" : "warning"} title={t(`problem.${problem.kind}`)}>
      {t(problem.kind === "off" ? "problem.offText" : "problem.awayText")}
    </Notice>
  );
}
