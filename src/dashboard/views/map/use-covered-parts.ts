// Tells the map which parts of the canvas lie under buttons and notices, so that no label is drawn there.
import { type RefObject, useLayoutEffect } from "react";
import type { Box } from "./label-layout.ts";
import type { MapEngine } from "./map-engine.ts";

const CONTROLS = ".map-buttons, .map-following";
/** Room between a label and a control. */
const MARGIN_PX = 4;

/** `isFollowing`: whether the notice of the followed marker is shown. Its size may change with the name. */
export function useCoveredParts(
  engine: MapEngine | undefined,
  frameRef: RefObject<HTMLElement | null>,
  isFollowing: boolean,
): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the notice comes and goes with `isFollowing`
  useLayoutEffect(() => {
    const frame = frameRef.current;
    if (!engine || !frame) return;
    const controls = Array.from(frame.querySelectorAll(CONTROLS));
    const measure = () => engine.setCovered(controls.map((control) => boxIn(frame, control)));
    const observer = new ResizeObserver(measure);
    for (const element of [frame, ...controls]) observer.observe(element);
    measure();
    return () => observer.disconnect();
  }, [engine, frameRef, isFollowing]);
}

function boxIn(frame: Element, control: Element): Box {
  const { left, top } = frame.getBoundingClientRect();
  const box = control.getBoundingClientRect();
  return {
    left: box.left - left - frame.clientLeft - MARGIN_PX,
    top: box.top - top - frame.clientTop - MARGIN_PX,
    right: box.right - left - frame.clientLeft + MARGIN_PX,
    bottom: box.bottom - top - frame.clientTop + MARGIN_PX,
  };
}
