import Foundation

/// The rules of JavaScript for numbers.
enum ScriptNumber {
    /// Returns the number that a text begins with, as `parseInt` does; NaN when it begins with none.
    /// - Parameters:
    ///   - text: The text.
    ///   - radix: The base from 2 to 36; 0 for 10, or 16 after `0x`.
    /// - Returns: The number, or NaN.
    static func integer(_ text: String, radix: Int) -> Double {
        var (digits, isNegative) = signed(text)
        var radix = radix
        if radix == 0 || radix == 16, digits.prefix(2).lowercased() == "0x" {
            digits = digits.dropFirst(2)
            radix = 16
        }
        if radix == 0 { radix = 10 }
        guard (2...36).contains(radix) else { return .nan }
        var value = Double.nan
        for character in digits {
            guard let digit = Int(String(character), radix: radix) else { break }
            value = (value.isNaN ? 0 : value) * Double(radix) + Double(digit)
        }
        return isNegative ? -value : value
    }

    /// Returns the number that a text begins with, as `parseFloat` does; NaN when it begins with none.
    static func decimal(_ text: String) -> Double {
        let (digits, isNegative) = signed(text)
        if digits.hasPrefix("Infinity") { return isNegative ? -.infinity : .infinity }
        var rest = digits
        var number = takeDigits(&rest)
        if rest.hasPrefix(".") {
            var fraction = rest.dropFirst()
            let places = takeDigits(&fraction)
            if !number.isEmpty || !places.isEmpty {
                number = "\(number.isEmpty ? "0" : number).\(places.isEmpty ? "0" : places)"
                rest = fraction
            }
        }
        guard !number.isEmpty else { return .nan }
        if rest.hasPrefix("e") || rest.hasPrefix("E") {
            var exponent = rest.dropFirst()
            let sign = exponent.hasPrefix("-") || exponent.hasPrefix("+") ? String(exponent.removeFirst()) : ""
            let places = takeDigits(&exponent)
            if !places.isEmpty { number += "e\(sign)\(places)" }
        }
        let value = Double(number) ?? .nan
        return isNegative ? -value : value
    }

    private static func signed(_ text: String) -> (Substring, isNegative: Bool) {
        let text = Substring(text.drop { $0.isWhitespace })
        if text.hasPrefix("-") { return (text.dropFirst(), true) }
        return (text.hasPrefix("+") ? text.dropFirst() : text, false)
    }

    private static func takeDigits(_ text: inout Substring) -> String {
        let digits = text.prefix { ("0"..."9").contains($0) }
        text = text.dropFirst(digits.count)
        return String(digits)
    }

    /// Returns the nearest integer, and of two the greater one.
    static func rounded(_ value: Double) -> Double {
        let lower = value.rounded(.down)
        return value - lower >= 0.5 ? lower + 1 : lower
    }

    /// Returns a number as the operators of bits use it: 32 bits of its whole part.
    static func integer32(_ value: Double) -> Int32 { Int32(bitPattern: unsigned32(value)) }

    private static func unsigned32(_ value: Double) -> UInt32 {
        guard value.isFinite else { return 0 }
        let part = value.rounded(.towardZero).truncatingRemainder(dividingBy: 4_294_967_296)
        return UInt32(truncatingIfNeeded: Int64(part))
    }

    /// Returns the result of an operator of bits.
    static func combine(_ symbol: String, _ one: Double, _ other: Double) -> Double {
        let (a, b) = (integer32(one), integer32(other))
        let count = Int32(unsigned32(other) & 31)
        switch symbol {
        case "&": return Double(a & b)
        case "|": return Double(a | b)
        case "^": return Double(a ^ b)
        case "<<": return Double(a << count)
        case ">>": return Double(a >> count)
        default: return Double(unsigned32(one) >> UInt32(count))
        }
    }

    /// Returns a number as a text in a base; nil when it has a fraction or the base is not one from 2 to 36.
    static func text(_ value: Double, radix: Double) -> String? {
        guard let radix = Int(exactly: radix), (2...36).contains(radix), let whole = Int64(exactly: value) else { return nil }
        return String(whole, radix: radix)
    }

    /// Returns a number with a number of decimal places from 0 to 100; nil for another number of places.
    static func text(_ value: Double, places: Double) -> String? {
        guard let places = Int(exactly: places), (0...100).contains(places) else { return nil }
        guard value.magnitude < 1e21 else { return ScriptValue.number(value).text }
        return String(format: "%.\(places)f", value)
    }
}
