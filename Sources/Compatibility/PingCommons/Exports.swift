// An error is a `LocalizedError`; PingOath and PingPush, whose models name `Date` and `Data`, export this module.
@_exported public import Foundation
