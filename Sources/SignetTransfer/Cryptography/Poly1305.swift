/// The message authenticator Poly1305 (RFC 8439 section 2.5).
///
/// Numbers have five limbs of 26 bits. The computation has no branches that depend on the key or the message.
package enum Poly1305 {
    private static let limb: UInt64 = 0x3FF_FFFF
    /// The bits of each limb that the first half of a key may have (`r` is clamped).
    private static let clamps: [UInt64] = [0x3FF_FFFF, 0x3FF_FF03, 0x3FF_C0FF, 0x3F0_3FFF, 0x00F_FFFF]

    /// Returns the tag of a message, of 16 bytes.
    /// - Parameters:
    ///   - message: The message.
    ///   - key: A key of 32 bytes that is used for this message only.
    /// - Returns: The tag, of 16 bytes.
    package static func tag(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
        var factor = limbs(Array(key[0..<16]) + [0], at: 0)
        for index in 0..<5 { factor[index] &= clamps[index] }
        var sum = [UInt64](repeating: 0, count: 5)
        var offset = 0
        while offset < message.count {
            var block = Array(message[offset..<min(offset + 16, message.count)])
            block.append(1)
            while block.count < 17 { block.append(0) }
            let added = limbs(block, at: 0)
            for index in 0..<5 { sum[index] = sum[index] &+ added[index] }
            sum = multiplied(sum, by: factor)
            offset += 16
        }
        return bytes(reduced(sum), plus: Array(key[16..<32]))
    }

    /// Returns the five limbs of the 17 bytes at an offset.
    private static func limbs(_ bytes: [UInt8], at offset: Int) -> [UInt64] {
        let low = LittleEndian.word64(bytes, at: offset)
        let high = LittleEndian.word64(bytes, at: offset + 8)
        let top = UInt64(bytes[offset + 16])
        let third: UInt64 = (low &>> 52) | (high &<< 12)
        let fifth: UInt64 = (high &>> 40) | (top &<< 24)
        return [low, low &>> 26, third, high &>> 14, fifth].map { $0 & limb }
    }

    /// Multiplies modulo 2^130 - 5; the limbs of the result may exceed 26 bits by a few.
    private static func multiplied(_ number: [UInt64], by factor: [UInt64]) -> [UInt64] {
        var result = [UInt64](repeating: 0, count: 5)
        for index in 0..<5 {
            var total: UInt64 = 0
            for other in 0..<5 {
                // 2^130 is 5 modulo 2^130 - 5.
                let value = other <= index ? factor[index - other] : factor[index - other + 5] &* 5
                total = total &+ number[other] &* value
            }
            result[index] = total
        }
        return carried(result)
    }

    /// Moves the bits above 26 to the next limb.
    private static func carried(_ number: [UInt64]) -> [UInt64] {
        var result = number
        for index in 0..<5 {
            let carry = result[index] &>> 26
            result[index] &= limb
            if index < 4 {
                result[index + 1] = result[index + 1] &+ carry
            } else {
                result[0] = result[0] &+ carry &* 5
            }
        }
        let carry = result[0] &>> 26
        result[0] &= limb
        result[1] = result[1] &+ carry
        return result
    }

    /// Returns the number below 2^130 - 5.
    private static func reduced(_ number: [UInt64]) -> [UInt64] {
        let number = carried(carried(number))
        var smaller = number
        smaller[0] = smaller[0] &+ 5
        for index in 0..<4 {
            smaller[index + 1] = smaller[index + 1] &+ (smaller[index] &>> 26)
            smaller[index] &= limb
        }
        smaller[4] = smaller[4] &- (limb &+ 1)
        // All ones when the difference is not negative.
        let mask: UInt64 = (smaller[4] &>> 63) &- 1
        return (0..<5).map { (number[$0] & ~mask) | (smaller[$0] & mask) }
    }

    /// Returns the low 128 bits of a number plus the second half of the key.
    private static func bytes(_ number: [UInt64], plus pad: [UInt8]) -> [UInt8] {
        let low: UInt64 = number[0] | (number[1] &<< 26) | (number[2] &<< 52)
        let high: UInt64 = (number[2] &>> 12) | (number[3] &<< 14) | (number[4] &<< 40)
        let (first, carries) = low.addingReportingOverflow(LittleEndian.word64(pad, at: 0))
        let carry: UInt64 = carries ? 1 : 0
        let second = high &+ LittleEndian.word64(pad, at: 8) &+ carry
        return LittleEndian.bytes([first, second])
    }
}
