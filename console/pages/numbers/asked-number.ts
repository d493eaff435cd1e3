import { goTo } from '../shell/router.ts';
import { useEffect } from '../shell/view.ts';

/** A number that was searched and not looked up yet. It is handed over here and not in the address, which browsers and proxies store. */
let asked: string | null = null;
const listeners = new Set<() => void>();

/** Opens the page of numbers, which looks the number up. */
export function askNumber(phone: string): void {
  asked = phone;
  goTo('/numbers');
  for (const listen of listeners) listen();
}

/** Calls `lookUp` with a number that was searched, once, also while the page is shown. */
export function useAskedNumber(lookUp: (phone: string) => void): void {
  useEffect(() => {
    const take = () => {
      if (asked === null) return;
      const phone = asked;
      asked = null;
      lookUp(phone);
    };
    take();
    listeners.add(take);
    return () => void listeners.delete(take);
  }, []);
}
