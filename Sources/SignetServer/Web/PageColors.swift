import SignetCore

/// The accent color of the pages, adapted to light and to dark color schemes.
///
/// It is made darker or lighter until text in it has a contrast of 4.5 to 1 with the background (WCAG 2.2, 1.4.3).
struct PageColors: Sendable {
    /// A color in sRGB, with components from 0 to 1.
    private struct Color: Sendable {
        var components: [Double]

        init(_ components: [Double]) { self.components = components }

        /// Creates a color from six hexadecimal digits.
        init(_ digits: String) {
            let number = Int(digits, radix: 16) ?? 0
            components = [16, 8, 0].map { Double(number >> $0 & 255) / 255 }
        }

        var css: String {
            "#"
                + components.map { component in
                    let text = String(Int((component * 255).rounded()), radix: 16)
                    return text.count == 1 ? "0\(text)" : text
                }.joined()
        }

        /// The relative luminance (WCAG 2.2, section "Relative luminance").
        var luminance: Double {
            let linear = components.map { component -> Double in
                component <= 0.04045 ? component / 12.92 : Self.power((component + 0.055) / 1.055)
            }
            return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
        }

        /// Returns x to the power of 2.4, for x from 0 to 1: the square, times the fifth root of the square.
        private static func power(_ x: Double) -> Double {
            let square = x * x
            guard square > 0 else { return 0 }
            var root = 1.0
            for _ in 0..<40 { root = (4 * root + square / (root * root * root * root)) / 5 }
            return square * root
        }

        func contrast(with other: Color) -> Double {
            let (a, b) = (luminance, other.luminance)
            return (max(a, b) + 0.05) / (min(a, b) + 0.05)
        }

        /// Returns the first of this color and its mixtures with `other` that has enough contrast with a background.
        func readable(on background: Color, mixing other: Color) -> Color {
            for step in 0...20 {
                let share = Double(step) / 20
                let mixed = Color(zip(components, other.components).map { $0 * (1 - share) + $1 * share })
                if mixed.contrast(with: background) >= 4.6 { return mixed }
            }
            return other
        }
    }

    /// The style sheet with the colors.
    let css: String

    /// Creates the colors.
    /// - Parameter digits: The accent color as six hexadecimal digits.
    init(_ digits: String) {
        let (black, white) = (Color("000000"), Color("ffffff"))
        // The backgrounds of app.css that have the least contrast with such a text.
        let light = Color(digits).readable(on: Color("f4f5f3"), mixing: black)
        let dark = Color(digits).readable(on: Color("1d2322"), mixing: white)
        css = """
            :root { --accent: \(light.css); --accent-ink: #fff; }
            @media (prefers-color-scheme: dark) { :root { --accent: \(dark.css); --accent-ink: #0e1514; } }

            """
    }
}

/// An image of the configuration: a `data:` URL, or the address of an image on the web.
enum PageImage {
    /// The maximum length of a `data:` URL, in bytes.
    private static let maxLength = 65_536

    /// Returns true for the address of an image: an `https` URL, or a `data:` URL with an image other than SVG.
    static func isAddress(_ text: String) -> Bool {
        guard text.utf8.count <= maxLength, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return false }
        if text.hasPrefix("data:image/") {
            return !text.prefix(14).lowercased().hasPrefix("data:image/svg") && text.contains(",")
        }
        return text.hasPrefix("https://") && CSPSource(text)?.origin != nil
    }

    /// Returns the Content-Security-Policy source of an image; nil when a policy cannot express it.
    static func source(_ address: String) -> String? { address.hasPrefix("data:") ? "data:" : CSPSource(address)?.origin }
}
