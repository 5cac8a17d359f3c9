// Shows how fresh the data is: the answer of the game API, the age, and the requests that are left.
import { Progress, Text } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { useCodeMeaning } from "../../parts/game-error-text.ts";
import { judgeAge } from "../../state/server-poll.ts";
import { useServerSession } from "../../state/session.ts";
import { useFormat } from "../../state/use-format.ts";
import { useNow } from "../../state/use-now.ts";
import type { ServerView } from "../../state/use-server-state.tsx";
import { Panel } from "./panel.tsx";

export function FreshnessCard({ view }: { readonly view: ServerView }) {
  const { t } = useTranslation("live");
  const format = useFormat();
  const now = useNow();
  const { dataAt, limit, error } = view;
  const isGood = view.condition === "ok" || view.condition === "stale";
  const condition = isGood ? judgeAge({ ...view, condition: "ok" }, now) : view.condition;
  const meaningOf = useCodeMeaning();
  const isOperator = useServerSession().kind === "viewer";
  const code = error?.upstreamCode ?? 0;
  const message = meaningOf(code) ?? (error?.upstreamMessage || t("fresh.noWords", { code }));
  const isFull = !limit || limit.resetAt <= now;
  const isBlocked = condition === "blocked";
  return (
    <Panel title={t("fresh.title")}>
      <dl className="live-facts numbers">
        <dt>{t("fresh.gameApi")}</dt>
        <dd>
          <Text span fw={600} className="untrusted" lineClamp={4}>
            {t(`fresh.says.${condition}`, { message })}
          </Text>
        </dd>
        <dt>{t("fresh.age")}</dt>
        <dd>
          {dataAt !== undefined &&
            t("fresh.asOf", { age: format.duration(now - dataAt), time: format.time(dataAt) })}
        </dd>
        <dt>{t("fresh.limit")}</dt>
        <dd>
          {isBlocked
            ? t("fresh.limitBlocked")
            : !limit
              ? t(isOperator ? "fresh.limitNone" : "fresh.limitUnknown")
              : isFull
                ? t("fresh.limitFull", { limit: limit.limit })
                : t("fresh.limitOf", {
                    remaining: limit.remaining,
                    limit: limit.limit,
                    age: format.duration(limit.resetAt - now),
                  })}
        </dd>
      </dl>
      {limit && !isBlocked && (
        <Progress
          value={isFull ? 100 : (limit.remaining / Math.max(limit.limit, 1)) * 100}
          color={isFull || limit.remaining * 4 > limit.limit ? "teal" : "orange"}
          size="sm"
          aria-label={t("fresh.limit")}
        />
      )}
      {view.isSlowed && (
        <Text size="sm" c="dimmed">
          {t("fresh.slowed")}
        </Text>
      )}
    </Panel>
  );
}
