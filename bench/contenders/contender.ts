// What the harness knows of a contender: how it is started, and where it is asked.
import type { Case } from "../cases.ts";
import type { Cores } from "../machine.ts";
import type { Stage } from "../stage.ts";

export type Contender = {
  readonly id: string;
  readonly name: string;
  /** True for those that send what they were given, whoever asks: they have no keys, and nobody need be used up. */
  readonly judgesNobody?: boolean;
  /** A sentence why it cannot take part here; undefined when it can. */
  findObstacle(): string | undefined;
  /** Contenders start in the order of the roster; `floor` needs answers of the first. */
  start(stage: Stage, cores: Cores, answersPath: string): Promise<Running>;
};

export type Running = {
  readonly pid: number;
  readonly startMs: number;
  urlOf(asked: Case): string;
  stop(): Promise<void>;
};
