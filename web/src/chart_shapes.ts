// SPDX-License-Identifier: Apache-2.0
// How points and marks are drawn: shapes that can be told apart without their colours.
import type { Shape } from "./series";

/** Adds one shape around (x, y) to the context's path; `size` is its half height. */
export function addShape(ctx: CanvasRenderingContext2D, shape: Shape, x: number, y: number, size: number): void {
  const corners = (...points: [number, number][]): void => {
    points.forEach(([dx, dy], i) => {
      if (i === 0) {
        ctx.moveTo(x + dx * size, y + dy * size);
      } else {
        ctx.lineTo(x + dx * size, y + dy * size);
      }
    });
    ctx.closePath();
  };
  switch (shape) {
    case "triangle":
      corners([0, -1.2], [1.1, 0.8], [-1.1, 0.8]);
      break;
    case "wedge":
      corners([0, 1.2], [1.1, -0.8], [-1.1, -0.8]);
      break;
    case "diamond":
      corners([0, -1.3], [1.1, 0], [0, 1.3], [-1.1, 0]);
      break;
    case "square":
      corners([-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]);
      break;
    case "circle":
      ctx.moveTo(x + size, y);
      ctx.arc(x, y, size, 0, 2 * Math.PI);
      break;
  }
}

/** A line across the plot or down it; `dash` in pixels, none for a whole one. */
export function drawLine(ctx: CanvasRenderingContext2D, colour: string, width: number, dash: number[], from: [number, number], to: [number, number]): void {
  // On whole pixels a line is sharp.
  const snapped = (value: number): number => Math.floor(value) + (Math.round(width) % 2) / 2;
  ctx.strokeStyle = colour;
  ctx.lineWidth = Math.max(1, Math.round(width));
  ctx.setLineDash(dash);
  ctx.beginPath();
  ctx.moveTo(snapped(from[0]), snapped(from[1]));
  ctx.lineTo(snapped(to[0]), snapped(to[1]));
  ctx.stroke();
  ctx.setLineDash([]);
}

/** At most a dozen powers of ten. */
export function powersOfTen(low: number, high: number): number[] {
  const [first, last] = [Math.round(Math.log10(low)), Math.round(Math.log10(high))];
  const step = Math.max(1, Math.ceil((last - first) / 10));
  const powers: number[] = [];
  for (let power = first; power <= last; power += step) {
    powers.push(10 ** power);
  }
  return powers;
}

/** The powers of ten around numbers above zero; of none, those of small errors. */
export function powersAround(numbers: Iterable<number | null>): [low: number, high: number] {
  let low = Infinity;
  let high = 0;
  for (const value of numbers) {
    if (value !== null && value > 0) {
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  }
  if (high === 0) {
    return [1e-8, 1];
  }
  const power = (value: number, round: (value: number) => number): number => 10 ** Math.max(-300, Math.min(300, round(Math.log10(value))));
  const [bottom, top] = [power(low, Math.floor), power(high, Math.ceil)];
  return bottom < top ? [bottom, top] : [bottom / 10, top * 10];
}

export function powerText(power: number): string {
  return power >= 0.01 && power <= 1000 ? String(power) : power.toExponential(0).replace("+", "");
}

/** The value of a variable of the style sheet: of the theme that is on. */
export function colourOf(variable: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(variable).trim();
}
