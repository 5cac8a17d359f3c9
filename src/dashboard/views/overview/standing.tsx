// How a server is doing, as a badge or as a dot with its word.
import { Badge, Group, Text } from "@mantine/core";
import { useTranslation } from "react-i18next";
import type { Standing } from "../../state/server/fleet-order.ts";

const COLOURS: Readonly<Record<Standing, string>> = {
  refused: "red",
  unreachable: "red",
  paused: "orange",
  offline: "gray",
  stale: "yellow",
  unknown: "gray",
  calls: "orange",
  full: "blue",
  fine: "teal",
};

export function StandingBadge({ standing }: { readonly standing: Standing }) {
  const { t } = useTranslation("fleet");
  return (
    <Badge color={COLOURS[standing]} variant="light" tt="none" miw="max-content">
      {t(`standing.${standing}`)}
    </Badge>
  );
}

export function StandingDot({ standing }: { readonly standing: Standing }) {
  const { t } = useTranslation("fleet");
  return (
    <Group gap={6} wrap="nowrap" component="span" flex="none">
      <span className="status-dot" style={{ background: `var(--mantine-color-${COLOURS[standing]}-6)` }} aria-hidden />
      <Text size="xs" c="dimmed" component="span">
        {t(`standing.${standing}`)}
      </Text>
    </Group>
  );
}
