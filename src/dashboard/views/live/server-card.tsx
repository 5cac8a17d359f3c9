// The server: its number of players, its owners and its join key.
import { ActionIcon, Badge, Box, Group, Progress, Text, Tooltip } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import type { ServerState } from "../../api/caller.ts";
import type { Id } from "../../api/exact-json.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { GameText } from "../../parts/game-text.tsx";
import { Icon } from "../../parts/icon.tsx";
import { useFormat } from "../../state/use-format.ts";
import { Panel } from "./panel.tsx";

const CO_OWNERS_SHOWN_MAX = 6;
const VERIFICATIONS = ["Disabled", "Email", "Phone", "ID", "Phone/ID"] as const;
const NEARLY_FULL = 0.9;

export function ServerCard({ state }: { readonly state: ServerState }) {
  const { t } = useTranslation("live");
  const format = useFormat();
  const { CurrentPlayers: players, MaxPlayers: max, Queue: queue } = state;
  const share = max > 0 ? Math.min(players / max, 1) : 0;
  const free = Math.max(max - players, 0);
  const known = VERIFICATIONS.find((name) => name === state.AccVerifiedReq);
  return (
    <Panel title={t("card.title")}>
      <Text fw={650} size="lg" component="div">
        <GameText text={state.Name} max={80} />
      </Text>
      <Box>
        <Group justify="space-between" align="flex-end" mb={6}>
          <Text component="p" m={0} className="numbers">
            <span className="live-count">{format.number(players)}</span>{" "}
            <Text span c="dimmed">
              {t("card.ofPlayers", { count: max })}
            </Text>
          </Text>
          <Group gap="xs">
            <Badge variant="light" color={free === 0 ? "red" : "teal"} tt="none">
              {free === 0 ? t("card.full") : t("card.free", { count: free })}
            </Badge>
            {queue && (
              <Badge variant="light" color={queue.length > 0 ? "orange" : "gray"} tt="none">
                {queue.length > 0 ? t("card.queued", { count: queue.length }) : t("card.queueEmpty")}
              </Badge>
            )}
          </Group>
        </Group>
        <Progress.Root size="lg">
          <Progress.Section
            value={share * 100}
            color={share >= NEARLY_FULL ? "orange" : "indigo"}
            withAria={false}
            role="progressbar"
            aria-label={t("card.players")}
            aria-valuemin={0}
            aria-valuemax={max}
            aria-valuenow={players}
            aria-valuetext={`${format.number(players)} ${t("card.ofPlayers", { count: max })}`}
          />
        </Progress.Root>
      </Box>
      <dl className="live-facts">
        <Fact name={t("card.joinKey")}>
          <JoinKey value={state.JoinKey} />
        </Fact>
        <Fact name={t("card.owner")}>
          <IdText id={state.OwnerId} />
        </Fact>
        <Fact name={t("card.coOwners")}>
          <CoOwners ids={state.CoOwnerIds} />
        </Fact>
        <Fact name={t("card.verification")}>
          {known ? t(`verification.${known}`) : <GameText text={state.AccVerifiedReq} />}
        </Fact>
        <Fact name={t("card.teamBalance")}>{t(state.TeamBalance ? "card.on" : "card.off")}</Fact>
      </dl>
    </Panel>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

function IdText({ id }: { readonly id: Id }) {
  const { t } = useTranslation("live");
  return (
    <Group gap={4} wrap="nowrap" display="inline-flex">
      <Text span className="numbers untrusted">
        {String(id)}
      </Text>
      <CopyButton value={String(id)} label={t("card.copyId", { id })} />
    </Group>
  );
}

function CoOwners({ ids }: { readonly ids: readonly Id[] }) {
  const { t } = useTranslation("live");
  const unique = Array.from(new Set(ids.map(String)));
  if (unique.length === 0) return t("card.none");
  const rest = unique.length - CO_OWNERS_SHOWN_MAX;
  return (
    <Group gap="xs">
      {unique.slice(0, CO_OWNERS_SHOWN_MAX).map((id) => (
        <IdText key={id} id={id} />
      ))}
      {rest > 0 && (
        <Text size="sm" c="dimmed" span>
          {t("card.more", { n: rest })}
        </Text>
      )}
    </Group>
  );
}

/** Hidden at first, so that it is not seen on a stream or over the shoulder. */
function JoinKey({ value }: { readonly value: string }) {
  const { t } = useTranslation("live");
  const [isShown, setShown] = useState(false);
  const label = t(isShown ? "card.hide" : "card.show");
  return (
    <Group gap={4} wrap="nowrap">
      {isShown ? (
        <GameText text={value} isCode />
      ) : (
        <Text span c="dimmed">
          {t("card.hidden")}
        </Text>
      )}
      <Tooltip label={label}>
        <ActionIcon size={24} aria-label={label} onClick={() => setShown(!isShown)}>
          <Icon name={isShown ? "eyeOff" : "eye"} size={16} />
        </ActionIcon>
      </Tooltip>
      <CopyButton value={value} label={t("card.joinKey")} />
    </Group>
  );
}
