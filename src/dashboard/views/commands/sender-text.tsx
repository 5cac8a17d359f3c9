// Says which key sent a command.
import { useTranslation } from "react-i18next";
import type { CommandResource } from "../../../core/wire/command.ts";
import { NamedSentence } from "../../parts/name-text.tsx";
import { useCallerSession } from "../../state/session.ts";

export function SenderText({ command }: { readonly command: CommandResource }) {
  const { t } = useTranslation("commands");
  const { ownKey } = useCallerSession();
  const { key_id: keyId, key_label: label } = command;
  const isOwn = keyId === ownKey.key_id;
  if (label === null) return t(isOwn ? "sender.ownUnnamed" : "sender.unknown");
  return (
    <NamedSentence
      names={[label]}
      write={(place) => t(isOwn ? "sender.own" : "sender.other", { label: place })}
    />
  );
}
