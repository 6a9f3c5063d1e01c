/// An error about a picture or the QR code in it.
///
/// The text of a QR code is a secret, because it enrolls an account. No case contains any of it.
enum PictureError: Error, Equatable, CustomStringConvertible {
    /// The file doesn't exist.
    case notThere
    /// The system denies access to the file.
    case denied
    /// The file or the content of the code cannot be read. The reason is a phrase for the user.
    case unreadable(String)
    /// The picture exceeds a limit. The phrase has the size and the limit.
    case tooLarge(String)
    /// The first bytes are neither those of PNG nor of JPEG. The file's name doesn't matter.
    case unknownFormat
    /// A PNG or JPEG picture with invalid data. The detail comes from the decoder.
    case damaged(String)
    /// A valid picture without a QR code.
    case noCode
    /// A picture with several different QR codes where one is expected.
    case severalCodes(Int)
    /// A dynamically loaded library is missing, or cannot be loaded.
    case libraryMissing(name: String, aptPackage: String)

    var description: String {
        switch self {
        case .notThere: "there is no such file"
        case .denied: "the system does not allow the picture to be read"
        case .unreadable(let reason): "the picture cannot be read: \(reason)"
        case .tooLarge(let size): "too large: \(size)"
        case .unknownFormat: "this is neither a PNG nor a JPEG picture"
        case .damaged(let detail): "the picture is damaged or cut short: \(detail)"
        case .noCode: "there is no QR code in the picture"
        case .severalCodes(let count):
            "there are \(count) different QR codes in the picture; cut out the one you mean, or give an export to 'signet import'"
        case .libraryMissing(let name, let package):
            "needs the library \(name), which is not here; install it, e.g. with: apt-get install \(package)"
        }
    }
}
