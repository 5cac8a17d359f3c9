// The layout of every view: heading, action buttons, content.
import { Anchor, Group, Stack } from "@mantine/core";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { useRouteId, useViewHref } from "../state/route.ts";
import { LazyView, type LoadView } from "./lazy-view.tsx";
import { Notice } from "./states.tsx";
import { Heading } from "./text/plain-text.tsx";

export function ViewPage(props: {
  readonly title: string;
  /** Beside the heading. */
  readonly parts?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}) {
  return (
    <Stack gap="sm">
      <Group justify="space-between" gap="xs" mih="2.25rem">
        <Group gap="md">
          <Heading order={1}>{props.title}</Heading>
          {props.parts}
        </Group>
        {props.actions}
      </Group>
      {props.children}
    </Stack>
  );
}

/** A view with two parts: what is now, and what was in a period. The route of the second goes on with its own name. */
export function SplitView(props: {
  readonly name: string;
  readonly title: string;
  readonly now: { readonly content: ReactNode };
  readonly past: {
    readonly name: string;
    readonly title: string;
    readonly load: LoadView;
  };
}) {
  const { t } = useTranslation("shell");
  const hrefOf = useViewHref();
  const { name, now, past } = props;
  const part = useRouteId(name) ?? "";
  if (part !== "" && part !== past.name) return <Notice icon="search" title={t("notFound")} />;
  const link = (route: string, title: string, isCurrent: boolean) => (
    <Anchor href={hrefOf(route)} underline="never" {...(isCurrent && { "aria-current": "page" as const })}>
      {title}
    </Anchor>
  );
  return (
    <ViewPage
      title={props.title}
      parts={
        <Group role="group" gap={4} aria-label={t("parts")} className="view-parts">
          {link(name, t("now"), part === "")}
          {link(`${name}/${past.name}`, past.title, part !== "")}
        </Group>
      }
    >
      {part === "" ? now.content : <LazyView load={past.load} />}
    </ViewPage>
  );
}
