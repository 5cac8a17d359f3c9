// A card of the live view: a heading and content, or a list with its number of entries and a text when it is empty.
import { Anchor, Badge, Card, Group, Stack, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { useViewHref } from "../../state/route.ts";

export function Panel(props: {
  readonly title: string;
  readonly badge?: ReactNode;
  readonly children: ReactNode;
}) {
  return (
    <Card component="section" withBorder padding="md" aria-label={props.title}>
      <Stack gap="sm">
        <Group justify="space-between" wrap="nowrap">
          <Title order={2} size="h4">
            {props.title}
          </Title>
          {props.badge}
        </Group>
        {props.children}
      </Stack>
    </Card>
  );
}

/** Shows the first `items` and links to the view with all of them. Undefined when the key may not read them. */
export function ListPanel<T>(props: {
  readonly title: string;
  readonly empty: string;
  readonly items: readonly T[] | undefined;
  readonly shownMax: number;
  /** The view with all items. */
  readonly view: string;
  readonly children: (item: T, index: number) => ReactNode;
}) {
  const { t } = useTranslation("live");
  const hrefOf = useViewHref();
  const { title, items, shownMax } = props;
  if (!items || items.length === 0) {
    return (
      <Panel title={title}>
        <Text c="dimmed" size="sm">
          {items ? props.empty : t("forbidden")}
        </Text>
      </Panel>
    );
  }
  return (
    <Panel
      title={title}
      badge={
        <Badge variant="light" className="numbers" style={{ flex: "none" }}>
          {items.length}
        </Badge>
      }
    >
      <ul className="live-list">{items.slice(0, shownMax).map(props.children)}</ul>
      {items.length > shownMax && (
        <Anchor href={hrefOf(props.view)} size="sm">
          {t("all", { n: items.length })}
        </Anchor>
      )}
    </Panel>
  );
}
