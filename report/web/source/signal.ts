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

export function useSignal<T>(watched: Signal<T>): T {
  const [value, setValue] = useState(watched.value);
  useEffect(() => {
    setValue(() => watched.value);
    return watched.subscribe((next) => setValue(() => next));
  }, [watched]);
  return value;
}
