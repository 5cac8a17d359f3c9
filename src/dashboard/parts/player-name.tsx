// Shows the name and the id of a player, each with a copy button.
import { Group, Text } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { CopyButton } from "./copy-button.tsx";
import { cutText, GameText } from "./game-text.tsx";

/** How much of a name is in the label of its copy button. */
const SPOKEN_MAX = 30;

export function CopyableText(props: {
  readonly text: string;
  readonly isNumber?: boolean;
  readonly isStrong?: boolean;
}) {
  const { text, isNumber = false, isStrong = false } = props;
  return (
    <Group gap={4} wrap="nowrap" component="span" display="inline-flex" miw={0}>
      <Text
        component="span"
        size="sm"
        fw={isStrong ? 600 : undefined}
        className={isNumber ? "numbers" : undefined}
      >
        <GameText text={text} />
      </Text>
      <CopyButton value={text} label={cutText(text, SPOKEN_MAX).text} />
    </Group>
  );
}

/** Name and id on one line. */
export function PlayerName(props: {
  readonly name: string;
  readonly id: string | undefined;
  /** Shown when there is no name. */
  readonly unknown?: string;
}) {
  const { t } = useTranslation("table");
  const { name, id } = props;
  return (
    <Group gap={6} component="span" display="inline-flex" miw={0}>
      {name === "" ? (
        <Text component="span" size="sm" c="dimmed">
          {props.unknown ?? t("unknown")}
        </Text>
      ) : (
        <Text component="span" size="sm" fw={600}>
          <GameText text={name} />
        </Text>
      )}
      {id !== undefined && (
        <Group gap={2} wrap="nowrap" component="span" display="inline-flex">
          <Text component="span" size="xs" c="dimmed" className="numbers">
            {cutText(id, SPOKEN_MAX).text}
          </Text>
          <CopyButton value={id} label={cutText(id, SPOKEN_MAX).text} />
        </Group>
      )}
    </Group>
  );
}
