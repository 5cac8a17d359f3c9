// A plot whose code, with the library that draws it, is loaded when the first plot is shown.
import { LazyView } from "../../parts/lazy-view.tsx";
import type { LinePlotProps } from "./line-plot.tsx";

const loadPlot = async () => (await import("./line-plot.tsx")).LinePlot;

export function LazyPlot(props: LinePlotProps) {
  return <LazyView load={loadPlot} given={props} />;
}
