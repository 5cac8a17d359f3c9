// Links between the parts of a view: what is now, and what was in a period.
import { Anchor, Group } from "@mantine/core";
import { useViewHref } from "../state/route.ts";

export type ViewPart = { readonly route: string; readonly title: string; readonly isCurrent: boolean };

export function ViewParts({ label, parts }: { readonly label: string; readonly parts: readonly ViewPart[] }) {
  const hrefOf = useViewHref();
  return (
    <Group role="group" gap={4} aria-label={label} className="view-parts">
      {parts.map(({ route, title, isCurrent }) => (
        <Anchor
          key={route}
          href={hrefOf(route)}
          underline="never"
          {...(isCurrent && { "aria-current": "page" as const })}
        >
          {title}
        </Anchor>
      ))}
    </Group>
  );
}
