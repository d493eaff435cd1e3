import htm from 'htm';
import { Component, createContext, h, render, type ComponentChildren, type ComponentType, type VNode } from 'preact';
import { useContext, useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';

/**
 * The view library of the pages: Preact with htm; only types are compiled. Every element needs a closing tag or a slash;
 * Preact escapes text in `${}`.
 */
export const html = htm.bind(h) as (strings: TemplateStringsArray, ...values: unknown[]) => VNode;

export { Component, createContext, render, useContext, useEffect, useId, useLayoutEffect, useMemo, useRef, useState };
export type { ComponentChildren, ComponentType, VNode };

/** Values that can be rendered. */
export type Shown = VNode | string | number | null | undefined | false | readonly Shown[];
