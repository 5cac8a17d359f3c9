// What the harness knows of a contender: how to start it, and its addresses.
import type { Case } from "../cases.ts";
import type { Cores } from "../machine.ts";
import type { Stage } from "../stage.ts";

export type Contender = {
  readonly id: string;
  readonly name: string;
  /** True for contenders that send recorded answers to everyone: they know no keys and no limits. */
  readonly checksNoKeys?: boolean;
  /** The reason why it cannot run on this machine; undefined when it can. */
  findObstacle(): string | undefined;
  /** Contenders start in the order of the roster; the floor needs the answers of the first one. */
  start(stage: Stage, cores: Cores, answersPath: string): Promise<Running>;
};

export type Running = {
  readonly pid: number;
  readonly startMs: number;
  urlOf(benchCase: Case): string;
  stop(): Promise<void>;
};
