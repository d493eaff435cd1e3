import htm from '/modules/htm.js';
import {
  Component,
  createContext,
  h,
  render,
  type ComponentChildren,
  type ComponentType,
  type VNode,
} from '/modules/preact.js';
import { useContext, useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from '/modules/preact-hooks.js';

/**
 * What pages are written in: Preact with htm, and nothing to compile but types. Every element needs its closing tag or a slash;
 * text in `${}` is escaped by Preact.
 */
export const html = htm.bind(h) as (strings: TemplateStringsArray, ...values: unknown[]) => VNode;

export { Component, createContext, render, useContext, useEffect, useId, useLayoutEffect, useMemo, useRef, useState };
export type { ComponentChildren, ComponentType, VNode };

/** What can stand where elements stand. */
export type Shown = VNode | string | number | null | undefined | false | readonly Shown[];
