// A number with its label, for overviews.
import { Paper, Text } from "@mantine/core";
import type { ReactNode } from "react";

export function Figure(props: {
  readonly label: string;
  readonly note?: string;
  /** What to do about a number that needs attention. */
  readonly todo?: string;
  /** Marks a number that needs attention. */
  readonly isBad?: boolean;
  readonly children: ReactNode;
}) {
  return (
    <Paper withBorder p="sm" className={props.isBad ? "has-problem" : undefined}>
      <Text size="sm" c="dimmed">
        {props.label}
      </Text>
      <Text component="div" size="xl" fw={650} className="numbers">
        {props.children}
      </Text>
      {props.note !== undefined && (
        <Text size="xs" c="dimmed">
          {props.note}
        </Text>
      )}
      {props.isBad && props.todo !== undefined && (
        <Text size="xs" fw={600}>
          {props.todo}
        </Text>
      )}
    </Paper>
  );
}
