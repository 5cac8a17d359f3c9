// Short texts in the looks that the page uses most.
import { Text, type TextProps, Title, type TitleProps } from "@mantine/core";
import type { ReactNode } from "react";

type Content = { readonly children: ReactNode; readonly title?: string };

/** A small grey text; `span` puts it into a line. */
export function Note(props: TextProps & Content) {
  return <Text size="sm" c="dimmed" {...props} />;
}

/** A small text inside of a line. */
export function Small(props: TextProps & Content) {
  return <Text span size="sm" {...props} />;
}

const HEADING_SIZES = { 1: "h3", 2: "h4", 3: "h5" } as const;

/** A heading of the second level by default. */
export function Heading({ order = 2, ...props }: TitleProps & Content & { readonly order?: 1 | 2 | 3 }) {
  return <Title order={order} size={HEADING_SIZES[order]} {...props} />;
}

/** One fact of a list of facts; nothing when there is no value. */
export function Fact(props: { readonly name: string; readonly children: ReactNode; readonly testId?: string }) {
  const { name, children, testId } = props;
  if (children === undefined || children === null || children === false || children === "") return null;
  return (
    <>
      <dt>{name}</dt>
      <dd data-testid={testId}>{children}</dd>
    </>
  );
}
