// What a view shows when it has no data, or no new data: empty, loading, failed, limited, blocked, offline.

import { Alert, Button, Center, Loader, Stack, Text, ThemeIcon } from "@mantine/core";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { BAD_KEY_CODES } from "../../core/readings/upstream-codes.ts";
import type { Section } from "../../core/sections.ts";
import type { ServerState } from "../api/caller.ts";
import type { ApiError } from "../api/request.ts";
import type { Condition } from "../state/server/server-poll.ts";
import type { ServerView } from "../state/server/use-server-state.tsx";
import { useSession } from "../state/session/session.ts";
import { useFormat, useSecond } from "../state/time/use-format.ts";
import { Icon, type IconName } from "./icon.tsx";
import { useGameErrorText } from "./text/game-error-text.ts";
import { Heading } from "./text/plain-text.tsx";

type Problem = Exclude<Condition, "loading" | "ok" | "stale">;

const ICONS: Readonly<Record<Problem, IconName>> = {
  offline: "servers",
  "game-error": "warning",
  limited: "live",
  blocked: "blocks",
  refused: "keys",
  unreachable: "warning",
};

export function Notice(props: {
  readonly icon: IconName;
  readonly title: string;
  readonly children?: ReactNode;
  readonly action?: ReactNode;
}) {
  return (
    <Center mih={280} p="md">
      <Stack align="center" gap="sm" maw={460} ta="center">
        <ThemeIcon size={56} radius="xl" variant="light" color="gray" aria-hidden>
          <Icon name={props.icon} size={28} />
        </ThemeIcon>
        <Heading size="h3">{props.title}</Heading>
        {props.children !== undefined && (
          <Text c="dimmed" className="untrusted">
            {props.children}
          </Text>
        )}
        {props.action}
      </Stack>
    </Center>
  );
}

export function LoadingState() {
  const { t } = useTranslation("status");
  return (
    <Center mih={280} role="status">
      <Stack align="center" gap="xs">
        <Loader aria-hidden />
        <Text c="dimmed">{t("title.loading")}</Text>
      </Stack>
    </Center>
  );
}

/** There is no data, and that is not an error. `title` says what there is none of. */
export function EmptyState({ title, children }: { readonly title?: string; readonly children?: ReactNode }) {
  const { t } = useTranslation("status");
  return (
    <Notice icon="empty" title={title ?? t("title.empty")}>
      {children}
    </Notice>
  );
}

/** Why a part of a view could not be loaded, in one line. */
export function FailureLine({ error }: { readonly error: ApiError }) {
  const { t } = useTranslation("status");
  const { code, message } = error;
  return (
    <Text size="sm" c="red" className="untrusted">
      {code === 0 ? t("title.unreachable") : t("text.failed", { message, code })}
    </Text>
  );
}

/** A failed request of an operator's view or of the command list. */
export function FailedState({ error, onRetry }: { readonly error: ApiError; readonly onRetry?: () => void }) {
  const { t } = useTranslation(["status", "shell"]);
  const isUnreachable = error.code === 0;
  return (
    <Notice
      icon="warning"
      title={t(isUnreachable ? "status:title.unreachable" : "status:title.failed")}
      action={
        onRetry && (
          <Button variant="light" onClick={onRetry}>
            {t("shell:tryAgain")}
          </Button>
        )
      }
    >
      {isUnreachable ? undefined : t("status:text.failed", { message: error.message, code: error.code })}
    </Notice>
  );
}

/** Whether the game API refuses the server's key, which only an operator can solve. */
function isBadKey(error: ApiError | undefined): boolean {
  return BAD_KEY_CODES.has(error?.upstreamCode ?? 0);
}

/** Says what keeps the server from being read, and what can be done. */
export function useProblemSentence(): (
  reading: Pick<ServerView, "condition" | "error" | "retryAt">,
  now: number,
) => string {
  const { t } = useTranslation("status");
  const format = useFormat();
  const describeGame = useGameErrorText();
  const isOperator = useSession().session.kind === "viewer";
  return ({ condition, error, retryAt }, now) => {
    const age = format.duration((retryAt ?? now) - now);
    const code = error?.code ?? 0;
    if (condition === "game-error") {
      const said = describeGame(error?.upstreamCode, error?.upstreamMessage);
      return isBadKey(error) ? `${t(isOperator ? "text.setKey" : "text.askForKey")} ${said}` : said;
    }
    if (condition === "limited") return t("text.limited", { age });
    if (condition === "blocked") return t("text.blocked", { age });
    if (condition === "refused") return t("text.refused", { message: error?.message ?? "", code });
    return condition === "offline" ? t("text.offline") : t("text.unreachable");
  };
}

function ProblemState({ view, condition }: { readonly view: ServerView; readonly condition: Problem }) {
  const { t } = useTranslation("status");
  const text = useProblemSentence()(view, useSecond());
  return (
    <Notice icon={ICONS[condition]} title={t(`title.${isBadKey(view.error) ? "badKey" : condition}`)}>
      {text}
    </Notice>
  );
}

function ProblemBanner({ view, condition }: { readonly view: ServerView; readonly condition: Problem }) {
  const { t } = useTranslation("status");
  const text = useProblemSentence()(view, useSecond());
  return (
    <Alert
      color="orange"
      title={t(`title.${isBadKey(view.error) ? "badKey" : condition}`)}
      icon={<Icon name={ICONS[condition]} />}
    >
      <Text size="sm" className="untrusted">
        {text} <span>{t("lastKnown")}</span>
      </Text>
    </Alert>
  );
}

export function ForbiddenNotice({ sections }: { readonly sections: readonly Section[] }) {
  const { t } = useTranslation("status");
  if (sections.length === 0) return null;
  const names = sections.map((name) => t(`sections.${name}`)).join(", ");
  return (
    <Alert color="gray" title={t("title.forbidden")} icon={<Icon name="keys" />}>
      {t("text.forbidden", { sections: names })}
    </Alert>
  );
}

/**
 * Shows its children with the last good state, under a banner when the last poll failed. Without any state it shows the
 * problem instead. Views are wrapped in this, so that they only handle the good case.
 */
export function ServerStateGate(props: {
  readonly view: ServerView;
  readonly children: (state: ServerState) => ReactNode;
}) {
  const { view, children } = props;
  const { condition, state } = view;
  const problem = condition === "loading" || condition === "ok" || condition === "stale" ? undefined : condition;
  if (!state) return problem ? <ProblemState view={view} condition={problem} /> : <LoadingState />;
  return (
    <Stack gap="md">
      {problem && <ProblemBanner view={view} condition={problem} />}
      <ForbiddenNotice sections={view.missing} />
      {view.isComplete ? children(state) : !problem && <LoadingState />}
    </Stack>
  );
}
