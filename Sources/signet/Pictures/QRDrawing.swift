import SignetCore

/// A text drawn as a QR code: for the terminal, or as a PNG file. The drawing is as secret as the text.
struct QRDrawing {
    private let code: QRCode

    /// The number of modules (little squares) on a side, without the quiet zone.
    var side: Int { code.side }

    /// Encodes `text` as bytes of UTF-8, with error correction level M; with L when only that holds it (2331 and 2953
    /// bytes).
    init(text: String) throws(PictureError) {
        guard !text.isEmpty else { throw .unreadable("there is no text to draw") }
        do throws(QRCode.TooLong) {
            code = try QRCode(text: text)
        } catch {
            throw .tooLarge("a text of \(error.byteCount) bytes; a QR code holds at most 2953")
        }
    }

    /// The columns ``terminalText(ansi:)`` needs. In a narrower terminal lines break and nobody can read the code.
    var terminalColumns: Int { side + 2 * QRCode.quietZone }

    /// The code in half blocks, two rows of modules a line, each line ended by a newline.
    ///
    /// - Parameter ansi: true for a terminal: black on white by explicit colours, whatever the theme. Without colours the
    ///   light modules are drawn, which is right on a dark ground; on a light one readers see it inverted, and most cope.
    func terminalText(ansi: Bool) -> String {
        var text = ""
        for top in stride(from: -QRCode.quietZone, to: side + QRCode.quietZone, by: 2) {
            // 16 and 231 of the 256 colours: plain black and white are greys in many themes.
            text += ansi ? "\u{1B}[38;5;16;48;5;231m" : ""
            for column in -QRCode.quietZone..<side + QRCode.quietZone {
                let upper = code.isDark(column, top) == ansi
                let lower = code.isDark(column, top + 1) == ansi
                text += upper ? (lower ? "█" : "▀") : (lower ? "▄" : " ")
            }
            text += ansi ? "\u{1B}[0m\n" : "\n"
        }
        return text
    }

    /// The code as a PNG file, with its quiet zone.
    /// - Parameter scale: pixels on the side of a module, 1 to 32.
    func png(scale: Int = 8) throws(PictureError) -> [UInt8] {
        try PNGCodec.encode(image(scale: scale))
    }

    /// The code as a picture, with its quiet zone; `scale` pixels a module, 1 to 32.
    func image(scale: Int = 8) throws(PictureError) -> GreyImage {
        guard (1...32).contains(scale) else { throw .tooLarge("\(scale) pixels a module; choose 1 to 32") }
        let image = try GreyImage(width: terminalColumns * scale, height: terminalColumns * scale)
        image.pixels.withBytes { pixels in
            for row in 0..<image.height {
                for column in 0..<image.width {
                    let dark = code.isDark(column / scale - QRCode.quietZone, row / scale - QRCode.quietZone)
                    pixels[row * image.width + column] = dark ? 0 : 255
                }
            }
        }
        return image
    }
}
