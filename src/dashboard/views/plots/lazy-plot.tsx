// What both kinds of plots share: a plot whose code, with the library that draws it, is loaded when the first plot is shown, and
// the numbers below it.
import { Button, Collapse } from "@mantine/core";
import { useDisclosure, useId } from "@mantine/hooks";
import type { ReactNode } from "react";
import { LazyView } from "../../parts/lazy-view.tsx";
import type { LinePlotProps } from "./line-plot.tsx";

const loadPlot = async () => (await import("./line-plot.tsx")).LinePlot;

export function LazyPlot(props: LinePlotProps) {
  return <LazyView load={loadPlot} given={props} />;
}

/** A button that shows and hides the numbers of a plot. */
export function NumbersToggle(props: { readonly label: string; readonly children: () => ReactNode }) {
  const [isOpen, { toggle }] = useDisclosure(false);
  const id = useId();
  return (
    <div>
      <Button variant="default" onClick={toggle} aria-expanded={isOpen} aria-controls={id}>
        {props.label}
      </Button>
      <Collapse expanded={isOpen} id={id} mt="sm">
        {isOpen && props.children()}
      </Collapse>
    </div>
  );
}
