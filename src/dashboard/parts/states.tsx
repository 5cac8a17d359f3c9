// What a view shows when it has nothing, or nothing new, to show: empty, loading, failed, limited, blocked, offline.
import { Alert, Button, Center, Loader, Stack, Text, ThemeIcon, Title } from "@mantine/core";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import type { Section } from "../../core/sections.ts";
import type { ServerState } from "../api/caller.ts";
import type { ApiError } from "../api/request.ts";
import type { Condition } from "../state/server-poll.ts";
import { useFormat } from "../state/use-format.ts";
import { useNow } from "../state/use-now.ts";
import type { ServerView } from "../state/use-server-state.tsx";
import { useGameTrouble } from "./game-words.ts";
import { Icon, type IconName } from "./icon.tsx";

type Trouble = Exclude<Condition, "loading" | "ok" | "stale">;

const ICONS: Readonly<Record<Trouble, IconName>> = {
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
        <Title order={2} size="h3">
          {props.title}
        </Title>
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

/** There is nothing, and that is no fault. `title` says what there is none of. */
export function EmptyState({ title, children }: { readonly title?: string; readonly children?: ReactNode }) {
  const { t } = useTranslation("status");
  return (
    <Notice icon="empty" title={title ?? t("title.empty")}>
      {children}
    </Notice>
  );
}

/** A request of the operator's part, or a command, that did not work. */
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

/** The sentence that belongs to a condition; the game's own words are shown as text. */
function useTroubleText(view: ServerView, now: number): string {
  const { t } = useTranslation("status");
  const format = useFormat();
  const describeGame = useGameTrouble();
  const { condition, error, retryAt } = view;
  const age = format.duration((retryAt ?? now) - now);
  const code = error?.code ?? 0;
  if (condition === "game-error") return describeGame(error?.upstreamCode, error?.upstreamMessage);
  if (condition === "limited") return t("text.limited", { age });
  if (condition === "blocked") return t("text.blocked", { age });
  if (condition === "refused") return t("text.refused", { message: error?.message ?? "", code });
  return condition === "offline" ? t("text.offline") : t("text.unreachable");
}

function TroubleState({ view, condition }: { readonly view: ServerView; readonly condition: Trouble }) {
  const { t } = useTranslation("status");
  const text = useTroubleText(view, useNow());
  return (
    <Notice icon={ICONS[condition]} title={t(`title.${condition}`)}>
      {text}
    </Notice>
  );
}

function TroubleBanner({ view, condition }: { readonly view: ServerView; readonly condition: Trouble }) {
  const { t } = useTranslation("status");
  const text = useTroubleText(view, useNow());
  return (
    <Alert color="orange" title={t(`title.${condition}`)} icon={<Icon name={ICONS[condition]} />}>
      <Text size="sm" className="untrusted">
        {text}
      </Text>
      <Text size="sm">{t("lastKnown")}</Text>
    </Alert>
  );
}

export function ForbiddenNote({ sections }: { readonly sections: readonly Section[] }) {
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
 * Shows its children with the last good state, under a banner when there is no newer one; without any state, what is
 * the matter. Views start with this and think of the good case only.
 */
export function ServerStateGate(props: {
  readonly view: ServerView;
  readonly children: (state: ServerState) => ReactNode;
}) {
  const { view, children } = props;
  const { condition, state } = view;
  const trouble =
    condition === "loading" || condition === "ok" || condition === "stale" ? undefined : condition;
  if (!state) return trouble ? <TroubleState view={view} condition={trouble} /> : <LoadingState />;
  return (
    <Stack gap="md">
      {trouble && <TroubleBanner view={view} condition={trouble} />}
      <ForbiddenNote sections={view.missing} />
      {view.isComplete ? children(state) : !trouble && <LoadingState />}
    </Stack>
  );
}
