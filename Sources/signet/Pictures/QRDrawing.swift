import CQREncode

/// A text drawn as a QR code: for the terminal, or as a PNG file. The drawing is as secret as the text.
struct QRDrawing {
    /// The light frame around a code without which readers do not find it, in modules (ISO/IEC 18004).
    private static let quietZone = 4

    /// The number of modules (little squares) on a side, without the quiet zone.
    let side: Int
    /// Row by row; true is dark.
    private let modules: [Bool]

    /// Encodes `text` as bytes of UTF-8, with error correction level M; with L when only that holds it (2331 and 2953
    /// bytes).
    init(text: String) throws(PictureError) {
        let library = try Library()
        let bytes = WipedMemory(text.utf8)
        guard bytes.count > 0 else { throw .unreadable("there is no text to draw") }
        let code = bytes.withBytes { buffer in
            let start = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
            return library.encode(CInt(clamping: buffer.count), start, 0, QR_ECLEVEL_M)
                ?? library.encode(CInt(clamping: buffer.count), start, 0, QR_ECLEVEL_L)
        }
        guard let code, let data = code.pointee.data else {
            throw .tooLarge("a text of \(bytes.count) bytes; a QR code holds at most 2953")
        }
        defer { library.free(code) }
        side = Int(code.pointee.width)
        // The lowest bit is the colour; the others say what the module is there for.
        modules = (0..<side * side).map { data[$0] & 1 == 1 }
        WipedMemory.wipe(data, count: side * side)
    }

    /// The columns ``terminalText(ansi:)`` needs. In a narrower terminal lines break and nobody can read the code.
    var terminalColumns: Int { side + 2 * Self.quietZone }

    /// The code in half blocks, two rows of modules a line, each line ended by a newline.
    ///
    /// - Parameter ansi: true for a terminal: black on white by explicit colours, whatever the theme. Without colours the
    ///   light modules are drawn, which is right on a dark ground; on a light one readers see it inverted, and most cope.
    func terminalText(ansi: Bool) -> String {
        var text = ""
        for top in stride(from: -Self.quietZone, to: side + Self.quietZone, by: 2) {
            // 16 and 231 of the 256 colours: plain black and white are greys in many themes.
            text += ansi ? "\u{1B}[38;5;16;48;5;231m" : ""
            for column in -Self.quietZone..<side + Self.quietZone {
                let upper = isDark(column, top) == ansi
                let lower = isDark(column, top + 1) == ansi
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
                    let dark = isDark(column / scale - Self.quietZone, row / scale - Self.quietZone)
                    pixels[row * image.width + column] = dark ? 0 : 255
                }
            }
        }
        return image
    }

    /// Outside of the code everything is light.
    private func isDark(_ column: Int, _ row: Int) -> Bool {
        (0..<side).contains(column) && (0..<side).contains(row) && modules[row * side + column]
    }
}

extension QRDrawing {
    /// The functions of libqrencode we call.
    private struct Library {
        typealias Encode =
            @convention(c) (CInt, UnsafePointer<UInt8>?, CInt, QRecLevel) -> UnsafeMutablePointer<QRcode>?

        let encode: Encode
        let free: @convention(c) (UnsafeMutablePointer<QRcode>) -> Void

        init() throws(PictureError) {
            let library = try DynamicLibrary("libqrencode.so.4", aptPackage: "libqrencode4")
            encode = try library.function("QRcode_encodeData")
            free = try library.function("QRcode_free")
        }
    }
}
