// The layout of every view: heading, summary, action buttons, content.
import { Box, Group, Stack, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";

export function ViewPage(props: {
  readonly title: string;
  readonly summary?: string;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}) {
  return (
    <Stack gap="md">
      <Group justify="space-between" align="flex-start">
        <Box>
          <Title order={1} size="h2">
            {props.title}
          </Title>
          {props.summary !== undefined && <Text c="dimmed">{props.summary}</Text>}
        </Box>
        {props.actions}
      </Group>
      {props.children}
    </Stack>
  );
}
