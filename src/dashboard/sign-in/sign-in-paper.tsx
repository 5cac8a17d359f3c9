// The frame of the pages for those who are not signed in: the language, and a sheet with a title.
import { Container, Group, Paper, Stack } from "@mantine/core";
import type { ReactNode } from "react";
import { Icon } from "../parts/icon.tsx";
import { PageSwitches } from "../parts/page-switches.tsx";
import { Heading } from "../parts/text/plain-text.tsx";

export function SignInPaper({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <Container component="main" size={460} py={{ base: "md", sm: "10vh" }}>
      <Group justify="flex-end" mb="md">
        <PageSwitches />
      </Group>
      <Paper withBorder shadow="sm" p={{ base: "md", sm: "xl" }}>
        <Stack>
          <Group gap="sm" wrap="nowrap">
            <Icon name="gate" size={32} />
            <Heading order={1}>{title}</Heading>
          </Group>
          {children}
        </Stack>
      </Paper>
    </Container>
  );
}
