import CPNG

/// Reads and writes PNG with the simplified API of libpng.
///
/// That API converts every kind of PNG, and returns errors instead of calling `longjmp`.
enum PNGCodec {
    /// Decodes any PNG to grayscale, with transparent pixels over white.
    ///
    /// A file that lacks only its end chunk (the last 12 bytes) is accepted: all pixels and their checksums are present.
    static func decode(_ file: UnsafeRawBufferPointer) throws(PictureError) -> GrayImage {
        let library = try Library()
        let header = library.newImage()
        defer { library.discard(header) }

        guard library.beginReading(header, file.baseAddress, file.count) != 0 else { throw failure(header) }
        header.pointee.format = png_uint_32(PNG_FORMAT_GRAY)
        let image = try GrayImage(width: Int(header.pointee.width), height: Int(header.pointee.height))
        var white = png_color(red: 255, green: 255, blue: 255)
        let read = image.pixels.withBytes {
            library.finishReading(header, &white, $0.baseAddress, png_int_32(image.width), nil)
        }
        guard read != 0 else { throw failure(header) }
        return image
    }

    /// Encodes a picture as a PNG in 8-bit grayscale.
    static func encode(_ image: GrayImage) throws(PictureError) -> [UInt8] {
        let library = try Library()
        let header = library.newImage()
        defer { library.discard(header) }

        header.pointee.format = png_uint_32(PNG_FORMAT_GRAY)
        header.pointee.width = png_uint_32(image.width)
        header.pointee.height = png_uint_32(image.height)
        return try image.pixels.withBytes { (pixels) throws(PictureError) in
            let row = png_int_32(image.width)
            var size: png_alloc_size_t = 0
            guard library.write(header, nil, &size, 0, pixels.baseAddress, row, nil) != 0 else { throw failure(header) }
            var file = [UInt8](repeating: 0, count: Int(size))
            let written = file.withUnsafeMutableBytes {
                library.write(header, $0.baseAddress, &size, 0, pixels.baseAddress, row, nil)
            }
            guard written != 0, Int(size) <= file.count else { throw failure(header) }
            return file
        }
    }

    private static func failure(_ header: UnsafeMutablePointer<png_image>) -> PictureError {
        let message = withUnsafeBytes(of: header.pointee.message) {
            String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        }
        return .damaged("PNG: \(message)")
    }
}

extension PNGCodec {
    private typealias Header = UnsafeMutablePointer<png_image>

    /// The functions of libpng that are used, with the signatures of its header.
    private struct Library {
        typealias BeginReading = @convention(c) (Header, UnsafeRawPointer?, Int) -> CInt
        typealias FinishReading =
            @convention(c) (
                Header, UnsafePointer<png_color>?, UnsafeMutableRawPointer?, png_int_32, UnsafeMutableRawPointer?
            ) -> CInt
        typealias Write =
            @convention(c) (
                Header, UnsafeMutableRawPointer?, UnsafeMutablePointer<png_alloc_size_t>, CInt, UnsafeRawPointer?,
                png_int_32, UnsafeRawPointer?
            ) -> CInt

        let beginReading: BeginReading
        let finishReading: FinishReading
        let write: Write
        let free: @convention(c) (Header) -> Void

        init() throws(PictureError) {
            let library = try DynamicLibrary("libpng16.so.16", aptPackage: "libpng16-16")
            beginReading = try library.function("png_image_begin_read_from_memory")
            finishReading = try library.function("png_image_finish_read")
            write = try library.function("png_image_write_to_memory")
            free = try library.function("png_image_free")
        }

        /// Allocates a header at a fixed address: libpng keeps a pointer to it between two calls, which `&variable` doesn't
        /// support.
        func newImage() -> Header {
            let header = Header.allocate(capacity: 1)
            header.initialize(to: png_image())
            header.pointee.version = png_uint_32(PNG_IMAGE_VERSION)
            return header
        }

        func discard(_ header: Header) {
            free(header)
            header.deallocate()
        }
    }
}
