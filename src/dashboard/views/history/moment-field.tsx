// A field for a date and a time, with a button that goes there.
import { Button, Group, TextInput } from "@mantine/core";
import { type FormEvent, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { parseMinute, writeMinute } from "../../state/history/period.ts";

/** `onGo` gets the beginning of a minute that is not in the future. */
export function MomentField(props: {
  readonly label: string;
  readonly button: string;
  readonly at: number | undefined;
  readonly onGo: (at: number) => void;
}) {
  const { t } = useTranslation("table");
  const [text, setText] = useState(() => writeMinute(props.at ?? Date.now()));
  const [isWrong, setWrong] = useState(false);
  const input = useRef<HTMLInputElement>(null);

  function submit(event: FormEvent): void {
    event.preventDefault();
    const at = parseMinute(text, Date.now());
    setWrong(at === undefined);
    if (at === undefined) input.current?.focus();
    else props.onGo(at);
  }

  return (
    <form onSubmit={submit} noValidate>
      <Group gap={6} align="flex-end">
        <TextInput
          ref={input}
          type="datetime-local"
          label={props.label}
          value={text}
          max={writeMinute(Date.now())}
          onChange={(event) => setText(event.currentTarget.value)}
          error={isWrong && t("noMoment")}
          className="moment-field"
        />
        <Button type="submit" px="sm" variant="default">
          {props.button}
        </Button>
      </Group>
    </form>
  );
}
