import SignetCore

/// A text as a QR code, for the terminal or as a PNG file.
///
/// The drawing is as secret as the text.
struct QRDrawing {
    private let code: QRCode

    /// Encodes `text` in UTF-8 with error correction level M (up to 2331 bytes), or with level L for longer texts (up to 2953
    /// bytes).
    init(text: String) throws(PictureError) {
        guard !text.isEmpty else { throw .unreadable("there is no text to draw") }
        do throws(QRCode.TooLong) {
            code = try QRCode(text: text)
        } catch {
            throw .tooLarge("a text of \(error.byteCount) bytes; a QR code holds at most 2953")
        }
    }

    /// The columns that ``terminalText(ansi:)`` needs.
    ///
    /// In a narrower terminal the lines wrap, and scanners cannot read the code.
    var terminalColumns: Int { code.side + 2 * QRCode.quietZone }

    /// Draws the code in half-block characters.
    /// - Parameter ansi: True for a terminal: the code is black on white by explicit colors, independent of the theme. Without
    ///   colors the light modules are drawn, which is correct on a dark background. On a light background the code is inverted,
    ///   which most readers accept.
    /// - Returns: The text: two rows of modules per line, each line with a line feed.
    func terminalText(ansi: Bool) -> String {
        var text = ""
        for top in stride(from: -QRCode.quietZone, to: code.side + QRCode.quietZone, by: 2) {
            // Colors 16 and 231 of the 256 colors, because many themes replace the standard black and white with grays.
            text += ansi ? "\u{1B}[38;5;16;48;5;231m" : ""
            for column in -QRCode.quietZone..<code.side + QRCode.quietZone {
                let upper = code.isDark(column, top) == ansi
                let lower = code.isDark(column, top + 1) == ansi
                text += upper ? (lower ? "█" : "▀") : (lower ? "▄" : " ")
            }
            text += ansi ? "\u{1B}[0m\n" : "\n"
        }
        return text
    }

    /// Draws the code with its quiet zone.
    /// - Parameter scale: The side of a module in pixels, from 1 to 32.
    /// - Returns: The bytes of a PNG file.
    /// - Throws: ``PictureError`` for a wrong scale, and when libpng is missing or fails.
    func png(scale: Int = 8) throws(PictureError) -> [UInt8] {
        try PNGCodec.encode(image(scale: scale))
    }

    /// Returns the code as a picture with its quiet zone.
    ///
    /// A module has a side of `scale` pixels, from 1 to 32.
    func image(scale: Int = 8) throws(PictureError) -> GrayImage {
        guard (1...32).contains(scale) else { throw .tooLarge("\(scale) pixels a module; choose 1 to 32") }
        return try GrayImage(width: terminalColumns * scale, height: terminalColumns * scale) { column, row in
            code.isDark(column / scale - QRCode.quietZone, row / scale - QRCode.quietZone) ? 0 : 255
        }
    }
}
