;; The inner loops of setting a level. $at and $end are addresses of float32,
;; a multiple of 16 bytes apart.
(module
  (memory (export "memory") 1)
  ;; The sum of the numbers, or of their squares, in 64 bits.
  (func (export "sum") (param $at i32) (param $end i32) (result f64)
    (local $a v128) (local $b v128) (local $four v128)
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $four (v128.load (local.get $at)))
        (local.set $a (f64x2.add (local.get $a) (f64x2.promote_low_f32x4 (local.get $four))))
        (local.set $b (f64x2.add (local.get $b) (f64x2.promote_low_f32x4 (i8x16.shuffle 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 (local.get $four) (local.get $four)))))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br $next)))
    (call $lanes (f64x2.add (local.get $a) (local.get $b))))

  (func (export "sumSquares") (param $at i32) (param $end i32) (result f64)
    (local $a v128) (local $b v128) (local $four v128) (local $low v128) (local $high v128)
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $four (v128.load (local.get $at)))
        (local.set $low (f64x2.promote_low_f32x4 (local.get $four)))
        (local.set $high (f64x2.promote_low_f32x4 (i8x16.shuffle 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 (local.get $four) (local.get $four))))
        (local.set $a (f64x2.add (local.get $a) (f64x2.mul (local.get $low) (local.get $low))))
        (local.set $b (f64x2.add (local.get $b) (f64x2.mul (local.get $high) (local.get $high))))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br $next)))
    (call $lanes (f64x2.add (local.get $a) (local.get $b))))

  (func $lanes (param $sums v128) (result f64)
    (f64.add (f64x2.extract_lane 0 (local.get $sums)) (f64x2.extract_lane 1 (local.get $sums))))

  ;; Each number becomes (number - $mean) * $gain.
  (func (export "scale") (param $at i32) (param $end i32) (param $mean f32) (param $gain f32)
    (local $means v128) (local $gains v128)
    (local.set $means (f32x4.splat (local.get $mean)))
    (local.set $gains (f32x4.splat (local.get $gain)))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (v128.store (local.get $at) (f32x4.mul (f32x4.sub (v128.load (local.get $at)) (local.get $means)) (local.get $gains)))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br $next)))))
