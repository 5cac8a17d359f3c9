// Ties a map engine to a canvas in the page: its size, the sharpness of the screen, colours, gestures. React renders when
// somebody is pointed at or chosen, never for a frame.
import { useComputedColorScheme } from "@mantine/core";
import { useReducedMotion } from "@mantine/hooks";
import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from "react";
import { listenToGestures } from "./gestures.ts";
import { MapEngine } from "./map-engine.ts";
import { Painter } from "./painter.ts";
import type { Point, Size } from "./viewport.ts";

export type MapWishes = {
  readonly onPoint: (key: string | undefined) => void;
  readonly onChoose: (key: string | undefined) => void;
  readonly onFollowEnd: () => void;
};

const TIP_GAP = 16;
/** A screen that is sharper than this costs time and shows no more. */
const RATIO_MAX = 3;

/** `tip` is moved beside the marker that is pointed at, and hidden when there is none in sight. */
export function useMapEngine(
  canvasRef: RefObject<HTMLCanvasElement | null>,
  tipRef: RefObject<HTMLElement | null>,
  wishes: MapWishes,
): MapEngine | undefined {
  const [engine, setEngine] = useState<MapEngine>();
  const latest = useRef(wishes);
  latest.current = wishes;
  const scheme = useComputedColorScheme("light", { getInitialValueInEffect: false });
  const isStill = useReducedMotion(undefined, { getInitialValueInEffect: false });

  useLayoutEffect(() => {
    const canvas = canvasRef.current;
    const context = canvas?.getContext("2d", { alpha: false });
    if (!canvas || !context) return;
    const made = new MapEngine(
      new Painter(context),
      {
        requestFrame: (draw) => requestAnimationFrame(draw),
        cancelFrame: (id) => cancelAnimationFrame(id),
        now: () => performance.now(),
      },
      {
        onPoint: (key) => latest.current.onPoint(key),
        onChoose: (key) => latest.current.onChoose(key),
        onFollowEnd: () => latest.current.onFollowEnd(),
        onPointedAt: (place, size) => placeTip(tipRef.current, place, size),
      },
    );
    const stopSizing = followSize(canvas, made);
    const stopGestures = listenToGestures(canvas, made);
    setEngine(made);
    return () => {
      stopGestures();
      stopSizing();
      made.stop();
      setEngine(undefined);
    };
  }, [canvasRef, tipRef]);

  useEffect(() => engine?.setScheme(scheme), [engine, scheme]);
  useEffect(() => engine?.setGentle(!isStill), [engine, isStill]);
  return engine;
}

function followSize(canvas: HTMLCanvasElement, engine: MapEngine): () => void {
  const measure = () => {
    const { clientWidth: width, clientHeight: height } = canvas;
    const ratio = Math.min(devicePixelRatio, RATIO_MAX);
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    engine.resize({ width, height }, ratio);
  };
  const observer = new ResizeObserver(measure);
  observer.observe(canvas);
  // Moved to another screen, or the page zoomed: the same size, in other pixels.
  let sharpness: MediaQueryList | undefined;
  const watchSharpness = () => {
    sharpness = matchMedia(`(resolution: ${devicePixelRatio}dppx)`);
    sharpness.addEventListener("change", onSharpness, { once: true });
  };
  const onSharpness = () => {
    measure();
    watchSharpness();
  };
  watchSharpness();
  return () => {
    observer.disconnect();
    sharpness?.removeEventListener("change", onSharpness);
  };
}

function placeTip(tip: HTMLElement | null, place: Point | undefined, size: Size): void {
  if (!tip) return;
  tip.style.visibility = place ? "visible" : "hidden";
  if (!place) return;
  const { offsetWidth, offsetHeight } = tip;
  const fits = place.x + TIP_GAP + offsetWidth <= size.width;
  const x = fits ? place.x + TIP_GAP : Math.max(0, place.x - TIP_GAP - offsetWidth);
  const y = Math.min(Math.max(0, place.y + TIP_GAP), Math.max(0, size.height - offsetHeight));
  tip.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px)`;
}
