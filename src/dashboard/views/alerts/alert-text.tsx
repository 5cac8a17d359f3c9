// What an alert says: its rule, whom it is about, and the sentence in the user's language.
import { Text } from "@mantine/core";
import { useTranslation } from "react-i18next";

import { type AlertWords, recogniseAlert } from "../../../core/alerts/recognise-alert.ts";
import { GameText } from "../../parts/game-text.tsx";
import { PlayerName } from "../../parts/player-name.tsx";
import { parsePlayerRef } from "../../player-ref.ts";
import "./texts.ts";

const SERVER = "server";
const TEXT_MAX = 120;

export type AlertFacts = { readonly rule: string; readonly subject: string; readonly text: string };

export function AlertText({ rule, subject, text }: AlertFacts) {
  const { t, i18n } = useTranslation("alertEvents");
  // The texts are the list of rules: what else has one would be loaded with the page.
  const isKnown = /^\w+$/.test(rule) && i18n.exists(`rule.${rule}`, { ns: "alertEvents" });
  const player = subject === SERVER || subject === "" ? undefined : parsePlayerRef(subject);
  const words = recogniseAlert(rule, text, player?.name ?? "");
  return (
    <>
      <Text component="span" size="sm" fw={600}>
        {isKnown ? t(`rule.${rule as "kills"}`) : <GameText text={rule} max={TEXT_MAX} />}
      </Text>
      {player && words && <PlayerName name={player.name} id={player.id} />}
      {!words && <GameText text={text} max={TEXT_MAX} />}
      {words && <Words {...words} />}
      {words?.name === "used" && <GameText text={words.command} max={TEXT_MAX} isCode />}
    </>
  );
}

function Words({ name, ...values }: AlertWords) {
  const { t } = useTranslation("alertEvents");
  return (
    <Text component="span" size="sm">
      {t(`text.${name}` as "text.kills", values as { count: number; seconds: number })}
    </Text>
  );
}
