/// Decodes JPEG with the TurboJPEG API of libjpeg-turbo, which reports errors instead of ending the process.
///
/// It needs no header: the signatures and constants below are those of TurboJPEG 2.x (turbojpeg.h), and the soname guarantees
/// that version.
enum JPEGDecoder {
    /// Decodes the brightness of a JPEG picture.
    ///
    /// A warning counts as an error, because the decoder only warns when the rest of the file is missing, and fills it with gray.
    static func decode(_ file: UnsafeRawBufferPointer) throws(PictureError) -> GrayImage {
        let library = try Library()
        guard let decoder = library.create() else { throw .unreadable("no memory for a JPEG decoder") }
        defer { _ = library.destroy(decoder) }

        var (width, height, subsampling, colors): (CInt, CInt, CInt, CInt) = (0, 0, 0, 0)
        let header = library.readHeader(
            decoder, file.baseAddress, CUnsignedLong(file.count), &width, &height, &subsampling, &colors)
        guard header == 0 else { throw failure(library, decoder) }
        guard width > 0, height > 0 else { throw .damaged("JPEG: it ends before its pixels begin") }
        guard colors != Library.cmyk, colors != Library.ycck else {
            throw .unreadable("it is a JPEG for print (CMYK); save it as PNG")
        }

        let image = try GrayImage(width: Int(width), height: Int(height))
        let read = image.pixels.withBytes {
            library.decompress(
                decoder, file.baseAddress, CUnsignedLong(file.count), $0.baseAddress, width, 0, height, Library.gray,
                Library.stopOnWarning | Library.limitScans)
        }
        guard read == 0 else { throw failure(library, decoder) }
        return image
    }

    private static func failure(_ library: Library, _ decoder: UnsafeMutableRawPointer) -> PictureError {
        .damaged("JPEG: " + (library.message(decoder).map { String(cString: $0) } ?? "no reason given"))
    }
}

extension JPEGDecoder {
    /// The functions of TurboJPEG that are used.
    private struct Library {
        typealias Decoder = UnsafeMutableRawPointer
        typealias Number = UnsafeMutablePointer<CInt>
        typealias ReadHeader =
            @convention(c) (Decoder, UnsafeRawPointer?, CUnsignedLong, Number, Number, Number, Number) -> CInt
        typealias Decompress =
            @convention(c) (
                Decoder, UnsafeRawPointer?, CUnsignedLong, UnsafeMutableRawPointer?, CInt, CInt, CInt, CInt, CInt
            ) -> CInt

        /// TJPF_GRAY, a pixel format.
        static let gray: CInt = 6
        /// TJCS_CMYK and TJCS_YCCK, color spaces without a conversion to gray.
        static let cmyk: CInt = 3
        static let ycck: CInt = 4
        /// TJFLAG_STOPONWARNING.
        static let stopOnWarning: CInt = 8192
        /// TJFLAG_LIMITSCANS.
        ///
        /// Without it, a small progressive file can use a processor for minutes.
        static let limitScans: CInt = 32768

        let create: @convention(c) () -> Decoder?
        let readHeader: ReadHeader
        let decompress: Decompress
        let message: @convention(c) (Decoder) -> UnsafePointer<CChar>?
        let destroy: @convention(c) (Decoder) -> CInt

        init() throws(PictureError) {
            let library = try DynamicLibrary("libturbojpeg.so.0", aptPackage: "libturbojpeg0")
            create = try library.function("tjInitDecompress")
            readHeader = try library.function("tjDecompressHeader3")
            decompress = try library.function("tjDecompress2")
            message = try library.function("tjGetErrorStr2")
            destroy = try library.function("tjDestroy")
        }
    }
}
