// An encryptor names `Data`.
@_exported public import Foundation
