;; The powers of the spectra of two real frames; pipelines/audio/signal/real-fft.ts says how.
(module
  (memory (export "memory") 1)
  ;; Sample n of both frames, times the window, goes to the address places[n]: $frame of them, then zeros up to $size.
  ;; Samples are float32, the window float64, addresses i32.
  (func (export "place") (param $first i32) (param $second i32) (param $window i32) (param $places i32) (param $frame i32) (param $size i32)
    (local $end i32)
    (local.set $end (i32.add (local.get $places) (i32.shl (local.get $frame) (i32.const 2))))
    (loop $sample
      (v128.store (i32.load (local.get $places))
        (f64x2.mul
          (f64x2.replace_lane 1 (f64x2.splat (f64.promote_f32 (f32.load (local.get $first)))) (f64.promote_f32 (f32.load (local.get $second))))
          (v128.load64_splat (local.get $window))))
      (local.set $first (i32.add (local.get $first) (i32.const 4)))
      (local.set $second (i32.add (local.get $second) (i32.const 4)))
      (local.set $window (i32.add (local.get $window) (i32.const 8)))
      (br_if $sample (i32.lt_u (local.tee $places (i32.add (local.get $places) (i32.const 4))) (local.get $end))))
    (local.set $end (i32.add (local.get $end) (i32.shl (i32.sub (local.get $size) (local.get $frame)) (i32.const 2))))
    (block $full
      (loop $zero
        (br_if $full (i32.ge_u (local.get $places) (local.get $end)))
        (v128.store (i32.load (local.get $places)) (f64x2.splat (f64.const 0)))
        (local.set $places (i32.add (local.get $places) (i32.const 4)))
        (br $zero))))

  ;; $half pairs of complex numbers in $re and $im, in bit-reversed order; cosines and sines of k / (2 half) turns; the powers
  ;; go to $out as float32, those of the second frame $half + 1 numbers behind those of the first.
  (func (export "powers") (param $half i32) (param $re i32) (param $im i32) (param $cos i32) (param $sin i32) (param $out i32)
    (local $next i32) (local $end i32) (local $reach i32) (local $k i32) (local $turn i32) (local $step i32) (local $low i32) (local $high i32) (local $shift i32)
    (local $c v128) (local $s v128) (local $a v128) (local $b v128) (local $tr v128) (local $ti v128) (local $er v128) (local $ei v128)
    (local.set $end (i32.shl (local.get $half) (i32.const 4)))
    (local.set $shift (i32.sub (local.get $im) (local.get $re)))
    ;; Stages that join transforms of $reach bytes, 16 a pair of numbers, to ones of twice the length.
    (local.set $reach (i32.const 16))
    (loop $stage
      (local.set $step (i32.shl (i32.div_u (local.get $end) (local.get $reach)) (i32.const 3)))
      (local.set $k (i32.const 0))
      (local.set $turn (i32.const 0))
      (loop $twiddle
        (local.set $c (v128.load64_splat (i32.add (local.get $cos) (local.get $turn))))
        (local.set $s (v128.load64_splat (i32.add (local.get $sin) (local.get $turn))))
        (local.set $low (i32.add (local.get $re) (local.get $k)))
        (loop $block
          (local.set $high (i32.add (local.get $low) (local.get $reach)))
          (local.set $a (v128.load (local.get $high)))
          (local.set $b (v128.load (i32.add (local.get $high) (local.get $shift))))
          (local.set $tr (f64x2.add (f64x2.mul (local.get $a) (local.get $c)) (f64x2.mul (local.get $b) (local.get $s))))
          (local.set $ti (f64x2.sub (f64x2.mul (local.get $b) (local.get $c)) (f64x2.mul (local.get $a) (local.get $s))))
          (local.set $a (v128.load (local.get $low)))
          (local.set $b (v128.load (i32.add (local.get $low) (local.get $shift))))
          (v128.store (local.get $high) (f64x2.sub (local.get $a) (local.get $tr)))
          (v128.store (i32.add (local.get $high) (local.get $shift)) (f64x2.sub (local.get $b) (local.get $ti)))
          (v128.store (local.get $low) (f64x2.add (local.get $a) (local.get $tr)))
          (v128.store (i32.add (local.get $low) (local.get $shift)) (f64x2.add (local.get $b) (local.get $ti)))
          (br_if $block (i32.lt_u (local.tee $low (i32.add (local.get $high) (local.get $reach))) (i32.add (local.get $re) (local.get $end)))))
        (local.set $turn (i32.add (local.get $turn) (local.get $step)))
        (br_if $twiddle (i32.lt_u (local.tee $k (i32.add (local.get $k) (i32.const 16))) (local.get $reach))))
      (br_if $stage (i32.lt_u (local.tee $reach (i32.shl (local.get $reach) (i32.const 1))) (local.get $end))))
    ;; The first and the last bin.
    (local.set $a (v128.load (local.get $re)))
    (local.set $b (v128.load (local.get $im)))
    (local.set $c (f64x2.add (local.get $a) (local.get $b)))
    (local.set $s (f64x2.sub (local.get $a) (local.get $b)))
    (local.set $next (i32.add (local.get $out) (i32.shl (i32.add (local.get $half) (i32.const 1)) (i32.const 2))))
    (local.set $a (f32x4.demote_f64x2_zero (f64x2.mul (local.get $c) (local.get $c))))
    (v128.store32_lane 0 (local.get $out) (local.get $a))
    (v128.store32_lane 1 (local.get $next) (local.get $a))
    (local.set $b (f32x4.demote_f64x2_zero (f64x2.mul (local.get $s) (local.get $s))))
    (v128.store32_lane 0 (i32.add (local.get $out) (i32.shl (local.get $half) (i32.const 2))) (local.get $b))
    (v128.store32_lane 1 (i32.add (local.get $next) (i32.shl (local.get $half) (i32.const 2))) (local.get $b))
    ;; The others from both ends: twice the even and the odd part, hence a quarter of the sum of squares.
    (local.set $k (i32.const 16))
    (local.set $high (i32.sub (local.get $end) (i32.const 16)))
    (local.set $turn (i32.const 8))
    (loop $bin
      (local.set $a (v128.load (i32.add (local.get $re) (local.get $k))))
      (local.set $b (v128.load (i32.add (local.get $re) (local.get $high))))
      (local.set $er (f64x2.add (local.get $a) (local.get $b)))
      (local.set $ti (f64x2.sub (local.get $b) (local.get $a)))
      (local.set $a (v128.load (i32.add (local.get $im) (local.get $k))))
      (local.set $b (v128.load (i32.add (local.get $im) (local.get $high))))
      (local.set $ei (f64x2.sub (local.get $a) (local.get $b)))
      (local.set $tr (f64x2.add (local.get $a) (local.get $b)))
      (local.set $c (v128.load64_splat (i32.add (local.get $cos) (local.get $turn))))
      (local.set $s (v128.load64_splat (i32.add (local.get $sin) (local.get $turn))))
      (local.set $a (f64x2.add (f64x2.mul (local.get $tr) (local.get $c)) (f64x2.mul (local.get $ti) (local.get $s))))
      (local.set $b (f64x2.sub (f64x2.mul (local.get $ti) (local.get $c)) (f64x2.mul (local.get $tr) (local.get $s))))
      (local.set $tr (f64x2.add (local.get $er) (local.get $a)))
      (local.set $ti (f64x2.add (local.get $ei) (local.get $b)))
      (local.set $c (f32x4.demote_f64x2_zero
        (f64x2.mul (f64x2.splat (f64.const 0.25)) (f64x2.add (f64x2.mul (local.get $tr) (local.get $tr)) (f64x2.mul (local.get $ti) (local.get $ti))))))
      (v128.store32_lane 0 (i32.add (local.get $out) (i32.shr_u (local.get $k) (i32.const 2))) (local.get $c))
      (v128.store32_lane 1 (i32.add (local.get $next) (i32.shr_u (local.get $k) (i32.const 2))) (local.get $c))
      (local.set $tr (f64x2.sub (local.get $er) (local.get $a)))
      (local.set $ti (f64x2.sub (local.get $b) (local.get $ei)))
      (local.set $c (f32x4.demote_f64x2_zero
        (f64x2.mul (f64x2.splat (f64.const 0.25)) (f64x2.add (f64x2.mul (local.get $tr) (local.get $tr)) (f64x2.mul (local.get $ti) (local.get $ti))))))
      (v128.store32_lane 0 (i32.add (local.get $out) (i32.shr_u (local.get $high) (i32.const 2))) (local.get $c))
      (v128.store32_lane 1 (i32.add (local.get $next) (i32.shr_u (local.get $high) (i32.const 2))) (local.get $c))
      (local.set $turn (i32.add (local.get $turn) (i32.const 8)))
      (local.set $high (i32.sub (local.get $high) (i32.const 16)))
      (br_if $bin (i32.le_u (local.tee $k (i32.add (local.get $k) (i32.const 16))) (local.get $high))))))
