// A value that several parts of the page observe.
import { useEffect, useState } from "preact/hooks";

export interface Signal<T> {
  readonly value: T;
  set(value: T): void;
  /** Returns a function that ends the subscription. */
  subscribe(listener: (value: T) => void): () => void;
}

export function signal<T>(initial: T): Signal<T> {
  let value = initial;
  const listeners = new Set<(value: T) => void>();
  return {
    get value() {
      return value;
    },
    set(next) {
      if (Object.is(next, value)) return;
      value = next;
      for (const listener of [...listeners]) listener(value);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** Returns whether the watched value is this one; a part is drawn anew only where that changes. */
export function useIs<T>(watched: Signal<T>, value: T): boolean {
  const [is, setIs] = useState(Object.is(watched.value, value));
  useEffect(() => {
    setIs(Object.is(watched.value, value));
    return watched.subscribe((next) => setIs(Object.is(next, value)));
  }, [watched, value]);
  return is;
}

export function useSignal<T>(watched: Signal<T>): T {
  const [value, setValue] = useState(watched.value);
  useEffect(() => {
    setValue(() => watched.value);
    return watched.subscribe((next) => setValue(() => next));
  }, [watched]);
  return value;
}
