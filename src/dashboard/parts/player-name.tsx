// Shows the name and the id of a player, each with a copy button.
import { Anchor, Group, Text } from "@mantine/core";
import { useContext } from "react";
import { useTranslation } from "react-i18next";
import { BriefContext } from "./brief.ts";
import { CopyButton } from "./copy-button.tsx";
import { cutText, GameText, MarkedText } from "./game-text.tsx";

/** How much of a name is in the label of its copy button. */
const SPOKEN_MAX = 30;
/** How much of a name a link shows. */
const LINK_MAX = 48;

export function CopyableText(props: {
  readonly text: string;
  readonly isNumber?: boolean;
  readonly isStrong?: boolean;
}) {
  const { text, isNumber = false, isStrong = false } = props;
  return (
    // Plain elements, because tables have hundreds of these and Mantine's render slowly.
    <span className="copyable">
      <span className={isNumber ? "numbers" : undefined} data-strong={isStrong || undefined}>
        <GameText text={text} />
      </span>
      <CopyButton value={text} label={cutText(text, SPOKEN_MAX).text} />
    </span>
  );
}

/** Name and id on one line. */
export function PlayerName(props: {
  readonly name: string;
  readonly id: string | undefined;
  /** Shown when there is no name. */
  readonly unknown?: string;
  /** Makes the name a link. */
  readonly href?: string;
}) {
  const { t } = useTranslation("table");
  const { name, id, href } = props;
  const isBrief = useContext(BriefContext);
  return (
    <Group gap={6} component="span" display="inline-flex" miw={0}>
      {href !== undefined ? (
        <NameLink name={name === "" ? (props.unknown ?? t("unknown")) : name} href={href} />
      ) : name === "" ? (
        <Text component="span" size="sm" c="dimmed">
          {props.unknown ?? t("unknown")}
        </Text>
      ) : (
        <Text component="span" size="sm" fw={600}>
          <GameText text={name} />
        </Text>
      )}
      {id !== undefined && (!isBrief || name === "") && (
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

/** A long name is cut without a button for the rest, because a link cannot hold one. */
function NameLink({ name, href }: { readonly name: string; readonly href: string }) {
  const { text, isCut } = cutText(name, LINK_MAX);
  return (
    <Anchor href={href} size="sm" fw={600} miw={0}>
      <bdi className="game-text">
        <MarkedText text={text} />
        {isCut && "…"}
      </bdi>
    </Anchor>
  );
}
